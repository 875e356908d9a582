import { hash, randomUUID } from 'node:crypto'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { upstash } from '../../emulator/upstash/handler.ts'
import { connectRedis, embeddedRedis } from '../../emulator/upstash/redis.ts'
import { requireKeyHash } from '../../lib/access/authorize.ts'
import { fileResult } from '../../lib/file/file.ts'
import { endpoint } from '../../lib/http/endpoint.ts'
import { RATE_LIMIT } from '../../lib/limits/rate-limit.ts'
import { mintApiKey } from '../../lib/request/api-key.ts'
import { httpError } from '../../lib/request/errors.ts'
import { sha256 } from '../../lib/request/hash.ts'
import { loggedLines } from '../fixtures/log.ts'
import { seededRandom } from '../fixtures/random.ts'
import { runVirtually, sleep } from '../fixtures/virtual-time.ts'
import { bindings } from '../mocks/upstash.ts'

vi.mock('../../lib/file/sleep.ts', () => import('../fixtures/virtual-time.ts'))

loggedLines()

const redisUrl = inject('redisUrl')
const redis = redisUrl === '' ? embeddedRedis() : await connectRedis(redisUrl)
const handle = upstash(redis, bindings().UPSTASH_REDIS_REST_TOKEN)
vi.stubGlobal('fetch', (url: string, init: RequestInit) => handle(new Request(url, init)))
// A busy machine may be slow.
vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal)
vi.useFakeTimers({ toFake: ['Date'] })
afterAll(() => {
  vi.useRealTimers()
  redis.close()
})

const { requests: BUCKET, refill } = RATE_LIMIT
const REFILLS = 7
const OUTER_LIMIT = 600
const URL_OF_X = 'http://localhost/api/export/v1/x'

type Headers = Record<string, string>

type Options = { readonly wait?: number; readonly isFile?: boolean; readonly headers?: Headers }

/** A service of empty pages and endless files, whose callers share an address and a `User-Agent`. */
function service() {
  const keys = new Set<string>()
  const counts = new Map<string, number>()
  const limit = async ({ key }: { key: string }) => {
    const counter = `${key} ${Math.floor(Date.now() / 60_000)}`
    const count = (counts.get(counter) ?? 0) + 1
    counts.set(counter, count)
    return { success: count <= OUTER_LIMIT }
  }
  const rows = (count: number) => ({ columns: [], rows: count, next: ['last'], total: 1_000_000 })
  const { fetch } = endpoint({
    path: '/x',
    handler: async (context) => {
      const keyHash = requireKeyHash(context)
      if (!keys.has(keyHash)) throw httpError('key')
      context.var.log.keyId = keyHash
      if (context.req.query('format') === undefined) return { body: '{}', cacheable: false }
      const file = { format: 'csv', name: 'x', fields: [], first: rows(1000) } as const
      return fileResult(context, { ...file, readAfter: async () => rows(5000) })
    },
  })
  const env = { ...bindings(), OUTER_LIMITER: { limit } }
  const network = { 'CF-Connecting-IP': randomUUID(), 'User-Agent': 'the default of a library' }
  const random = seededRandom(1)
  /** Requests to the shared bucket that were served, and started thousands of rows of files after the first one. */
  const served = { requests: 0, pages: 0 }

  const send = async (query: string, headers: Headers = {}, method = 'GET') => {
    const init = { method, headers: { ...network, ...headers } }
    const response = await fetch(new Request(`${URL_OF_X}?${query}`, init), env)
    if (response.status !== 429 && headers.Authorization === undefined) served.requests += 1
    return response
  }
  /** Returns a key that was accepted at another address. */
  const newKey = async () => {
    const headers = { 'X-API-Key': mintApiKey(), Authorization: randomUUID() }
    keys.add(await sha256(headers['X-API-Key']))
    await send('', { ...headers, 'CF-Connecting-IP': randomUUID() })
    return { 'X-API-Key': headers['X-API-Key'] }
  }
  /** Reads pages, or files, with a key of its own, as the documentation says; `latency` in milliseconds, `wait` in seconds. */
  async function caller(latency: number, { wait = 0, isFile = false, headers = {} }: Options = {}) {
    const own = { ...(await newKey()), ...headers }
    const pause = () => sleep(latency + random.below(latency))
    /** Its pages or started thousands of rows, and the most 429s in a row. */
    const outcome = { pages: 0, most: 0 }
    const id = randomUUID()
    async function run() {
      await pause()
      for (let denials = 0; ; ) {
        const response = await send(`${isFile ? 'format=csv&' : ''}page=${id}-${outcome.pages}`, own)
        expect(response.status).toBeOneOf([200, 429])
        if (response.status === 429) {
          denials += 1
          outcome.most = Math.max(outcome.most, denials)
          await sleep((wait || Number(response.headers.get('Retry-After'))) * 1000)
        } else if (isFile) {
          for await (const chunk of response.body ?? []) {
            const pages = chunk.length / '\r\n'.length / 1000
            if (outcome.pages > 0) served.pages += Math.floor(pages)
            outcome.pages += Math.floor(pages)
            await pause()
          }
        } else {
          denials = 0
          outcome.pages += 1
        }
        await pause()
      }
    }
    return { outcome, run }
  }
  return { send, newKey, caller, served }
}

type Callers = {
  readonly honest: ReturnType<ReturnType<typeof service>['caller']>[]
  readonly others?: readonly (() => Promise<void>)[]
}

/** Repeats something every so many seconds. */
const every = (seconds: number, work: () => Promise<unknown>) => async () => {
  for (;;) {
    await work()
    await sleep(seconds * 1000)
  }
}

const times = <Item>(count: number, create: () => Item): Item[] => Array.from({ length: count }, create)

/** Each mix of callers, with the most 429s in a row of an honest one, and the fewest pages. */
test.each<[string, number, number, (all: ReturnType<typeof service>) => Callers]>([
  [
    'ten loaders of different speeds',
    1,
    6,
    ({ caller }) => ({
      honest: [20, 200, 2000].flatMap((latency) => times(latency < 100 ? 4 : 3, () => caller(latency))),
    }),
  ],
  [
    'twenty fast loaders, a slow one, and one that always waits 12 s',
    2,
    3,
    ({ caller }) => ({
      honest: [...times(20, () => caller(20)), caller(2000), caller(300, { wait: 12 })],
    }),
  ],
  [
    'a file and six loaders',
    1,
    15,
    ({ caller }) => ({ honest: [caller(30, { isFile: true }), ...times(6, () => caller(100))] }),
  ],
  [
    'two files and a loader',
    1,
    50,
    ({ caller }) => ({ honest: [...times(2, () => caller(30, { isFile: true })), caller(200)] }),
  ],
  [
    'three loaders, a file and an Authorization header, next to floods',
    1,
    6,
    ({ send, newKey, caller }) => {
      const foreign = newKey()
      return {
        honest: [
          ...[caller(50), caller(2000), caller(300, { wait: 12 }), caller(30, { isFile: true })],
          caller(50, { headers: { Authorization: randomUUID() } }),
        ],
        others: [
          every(0.125, () => send('')),
          every(1, () => send('', { 'X-API-Key': mintApiKey() })),
          every(0.5, async () => send(randomUUID(), await foreign)),
          every(refill.seconds, async () => {
            for (let request = 0; request < 100; request += 1) await send(randomUUID(), {}, 'HEAD')
          }),
        ],
      }
    },
  ],
  [
    'files that bear the name of a request that waits',
    1,
    15,
    ({ send, caller }) => {
      const headers = { 'X-Request-Id': hash('sha256', `HEAD ${URL_OF_X}?waits`) }
      return {
        honest: [20, 30, 40].map((latency) => caller(latency, { isFile: true, headers })),
        others: [
          every(10, async () => {
            for (let request = 0; request < 10; request += 1) await send('waits', {}, 'HEAD')
          }),
        ],
      }
    },
  ],
])(
  '%s',
  async (_, most, pages, mix) => {
    vi.setSystemTime('2026-11-22T10:00:07.250Z')
    const all = service()
    const { honest, others = [] } = mix(all)
    const callers = await Promise.all(honest)
    await runVirtually((REFILLS + 1) * refill.seconds * 1000, [...callers.map(({ run }) => run), ...others])
    const served = all.served.requests + all.served.pages
    const limit = BUCKET + REFILLS * refill.requests
    expect(served, 'no more than the bucket and its refills').toBeLessThanOrEqual(limit)
    expect(served, 'most of them').toBeGreaterThanOrEqual(limit - 3 * refill.requests)
    for (const { outcome } of callers) {
      expect(outcome.most).toBeLessThanOrEqual(most)
      expect(outcome.pages).toBeGreaterThanOrEqual(pages)
    }
  },
  120_000,
)
