import { afterAll, beforeAll, expect } from 'vitest'
import type { Emulator } from '../../emulator/emulator.ts'
import type { Service } from '../../emulator/workers/outbound.ts'
import { call } from '../fixtures/call.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { database } from '../fixtures/rows.ts'
import { expectWholeOrUnavailable, inTime, type Verdict } from './assertions.ts'
import type { Fault } from './fault.ts'
import { findStages, type Stage } from './requests.ts'

/** A service with faults in its requests to Neon and Upstash. */
type FaultyService = {
  readonly url: () => string
  /** Requests sent to a server since the start. */
  readonly trips: (service: Service) => number
  /** Chooses the fault of each request to a server. */
  readonly strike: (choose: (service: Service) => Fault | undefined) => void
  /** What the Workers have logged since it was cleared. */
  readonly log: () => readonly string[]
  readonly clearLog: () => void
}

/** A service of the test file's own, with faults where a test wants them. */
function faultyService(): FaultyService {
  let emulator: Emulator
  let choose: (service: Service) => Fault | undefined = () => undefined
  let log: string[] = []
  beforeAll(async () => {
    emulator = await startOwnService({
      intercept: (service, request, genuine) => choose(service)?.strike(genuine, request),
      onLog: (line) => log.push(line),
    })
  })
  afterAll(() => emulator.close())
  return {
    url: () => emulator.url,
    trips: (service) => emulator.subrequests()[service],
    strike: (next) => {
      choose = next
    },
    log: () => log,
    clearLog: () => {
      log = []
    },
  }
}

/** The result of one stage, and whether its request consumed a budget. */
export type Outcome = { readonly stage: Stage; readonly outcome: Verdict; readonly counted: boolean }

/** Every stage of every endpoint of a service whose servers fail. */
export type Trial = {
  readonly service: FaultyService
  readonly stages: () => readonly Stage[]
  /** Sends a request to every stage; each response must be whole or a 503. */
  readonly round: () => Promise<Outcome[]>
  /** A round for each fault of a server; each starts when the previous fault has reached all requests. */
  readonly waves: (target: Service, faults: readonly Fault[]) => Promise<Outcome[]>
}

/** Sets up a {@link Trial} for a test file. */
export function trial(): Trial {
  const db = database()
  const service = faultyService()
  let stages: readonly Stage[] = []
  beforeAll(async () => {
    stages = await findStages(db, service.url())
  })

  const round = () =>
    Promise.all(
      stages.map(async (stage) => {
        const answer = await inTime(call(stage.path, stage.call))
        const outcome = expectWholeOrUnavailable(answer, stage.whole)
        return { stage, outcome, counted: answer.headers.has('RateLimit') }
      }),
    )

  async function waves(target: Service, faults: readonly Fault[]): Promise<Outcome[]> {
    const asking = stages.filter(({ asks }) => asks || target === 'upstash').length
    const rounds: Promise<Outcome[]>[] = []
    for (const fault of faults) {
      const met = service.trips(target) + asking
      service.strike((asked) => (asked === target ? fault : undefined))
      rounds.push(round())
      await expect.poll(() => service.trips(target)).toBe(met)
    }
    return (await Promise.all(rounds)).flat()
  }

  return { service, stages: () => stages, round, waves }
}
