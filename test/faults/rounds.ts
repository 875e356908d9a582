import { beforeAll, expect } from 'vitest'
import type { Service } from '../../emulator/workers/outbound.ts'
import { call } from '../fixtures/call.ts'
import { database } from '../fixtures/rows.ts'
import { expectWholeOrUnavailable, inTime, type Verdict } from './assertions.ts'
import type { Fault } from './fault.ts'
import { type FaultyService, faultyService, type Servers } from './faulty-service.ts'
import { findStages, type Stage } from './requests.ts'

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
export function trial(servers?: () => Promise<Servers>): Trial {
  const db = database()
  const service = faultyService(servers)
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
