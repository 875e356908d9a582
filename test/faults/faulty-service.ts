import { afterAll, beforeAll } from 'vitest'
import type { Emulator, EmulatorOptions } from '../../emulator/emulator.ts'
import type { Service } from '../../emulator/workers/outbound.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import type { Fault } from './fault.ts'

/** A service with faults in its requests to Neon and Upstash. */
export type FaultyService = {
  readonly url: () => string
  /** Requests sent to a server since the start. */
  readonly trips: (service: Service) => number
  /** Chooses the fault of each request to a server. */
  readonly strike: (choose: (service: Service) => Fault | undefined) => void
  /** What the Workers have logged since it was cleared. */
  readonly log: () => readonly string[]
  readonly clearLog: () => void
}

/** Where a service's servers are; the database of the run, and a Redis of its own, when left out. */
export type Servers = Pick<EmulatorOptions, 'databaseUrl' | 'redisUrl'>

/** A service of the test file's own, with faults where a test wants them. */
export function faultyService(servers: () => Promise<Servers> = async () => ({})): FaultyService {
  let emulator: Emulator
  let choose: (service: Service) => Fault | undefined = () => undefined
  let log: string[] = []
  beforeAll(async () => {
    emulator = await startOwnService({
      intercept: (service, request, genuine) => choose(service)?.strike(genuine, request),
      onLog: (line) => log.push(line),
      ...(await servers()),
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
