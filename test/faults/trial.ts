import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import type { Service } from '../../emulator/workers/outbound.ts'
import { type Answer, type Call, call } from '../fixtures/call.ts'
import { expectError } from '../fixtures/expect-error.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { database } from '../fixtures/rows.ts'
import { tenant } from '../fixtures/tenant.ts'
import { type Fault, SILENCES } from './faults.ts'

/** Every request is answered within this time. */
const LIMIT_MS = 10_000

/** A request whose server failed. */
type Outcome = {
  readonly path: string
  /** Whether the request reaches the database. */
  readonly asks: boolean
  readonly outcome: 'whole' | 'unavailable'
  /** Whether it consumed a budget. */
  readonly counted: boolean
}

/** Starts a service whose servers fail, and finds its response without faults to a request of each stage. */
export async function trial() {
  let choose: (server: Service) => Fault | undefined = () => undefined
  let log: string[] = []
  const db = database()
  const service = await startOwnService({
    intercept: (server, request, genuine) => choose(server)?.strike(genuine, request),
    onLog: (line) => log.push(line),
  })
  afterAll(() => service.close())

  // A connection that is used again after a pause may be closed by the server at that moment.
  const send = (path: string, options: Call) =>
    call(path, { service: service.url, headers: { Connection: 'close' }, ...options })
  const { key, brandId } = await tenant(db)
  await fillDaily(db, { name: 'citations', brandId, rows: 1001, first: '2015-01-01', days: 1 })
  await fillDaily(db, { name: 'changes', brandId, rows: 3, first: '2015-01-01', days: 3 })
  const query = { brandId, fromDate: '2015-01-01', toDate: '2019-12-31' }
  const cursor = (await send('/citations', { key, query })).pagination.nextCursor ?? ''
  const requests: readonly (readonly [path: string, options: Call])[] = [
    ['/openapi.json', {}],
    ['/brands', { key }],
    ['/changes', { key }],
    ['/citations', { key, query }],
    ['/citations', { key, query: { ...query, cursor } }],
    ['/citations', { key: `svc_live_${randomBytes(32).toString('hex')}`, query }],
    ['/citations', { key, query: { ...query, toDate: 'today' } }],
    ['/citations', { key, query: { ...query, brandId: randomUUID() } }],
  ]
  const stages = await Promise.all(
    requests.map(async ([path, options]) => ({ path, options, whole: await send(path, options) })),
  )

  /** Sends each request while servers fail; each response must be in time, and whole or a 503. */
  const round = (): Promise<Outcome[]> =>
    Promise.all(
      stages.map(async ({ path, options, whole }) => {
        const start = performance.now()
        const answer = await send(path, options)
        expect(performance.now() - start).toBeLessThan(LIMIT_MS)
        const outcome = expectWholeOrUnavailable(answer, whole)
        return { path, asks: path !== '/openapi.json', outcome, counted: answer.headers.has('RateLimit') }
      }),
    )

  return {
    round,
    log: () => log,
    /** Chooses the fault of each request to a server, and clears the log. */
    strike: (next: typeof choose) => {
      choose = next
      log = []
    },
    /** Sends each request while some servers fall silent at each point of their responses. */
    silenced: async (isSilent: (server: Service) => boolean): Promise<Outcome[]> => {
      let asked = 0
      log = []
      choose = (server) => (isSilent(server) ? SILENCES[asked++ % SILENCES.length] : undefined)
      return (await Promise.all(SILENCES.map(round))).flat()
    },
    /** Expects the log to quote no request and no server response. */
    expectNoSecretsLogged: () => {
      const text = log.join('\n')
      expect(text).not.toMatch(/secret detail|select\b|svc_live_|api\.neon\.test|upstash\.test/)
      expect(text).not.toContain(brandId)
    },
  }
}

/** Expects the response without faults, byte for byte, or a 503 with `Retry-After` that reveals nothing. */
function expectWholeOrUnavailable(answer: Answer, whole: Answer): Outcome['outcome'] {
  if (answer.status === 503) {
    expectError(answer, 503)
    expect(answer.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
    return 'unavailable'
  }
  expect([answer.status, answer.text]).toEqual([whole.status, whole.text])
  for (const name of ['Content-Type', 'ETag', 'Link'])
    expect(answer.headers.get(name)).toBe(whole.headers.get(name))
  return 'whole'
}
