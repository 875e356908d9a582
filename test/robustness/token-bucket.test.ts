import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { upstash } from '../../emulator/upstash/handler.ts'
import { connectRedis, embeddedRedis } from '../../emulator/upstash/redis.ts'
import { parseEnv } from '../../lib/env.ts'
import { consume, createLimiter, RATE_LIMIT } from '../../lib/rate-limit.ts'
import { emptyLog } from '../fixtures/log.ts'
import { seededRandom } from '../fixtures/random.ts'
import { bindings } from '../mocks/upstash.ts'

const redisUrl = inject('redisUrl')
/** The embedded store takes milliseconds for a script. */
const RUNS = redisUrl === '' ? 50 : 1000
const CALLERS = 10
const REFILLS = 7
const START = Date.parse('2026-11-22T10:00:00Z')

const redis = redisUrl === '' ? embeddedRedis() : await connectRedis(redisUrl)
const handle = upstash(redis, bindings().UPSTASH_REDIS_REST_TOKEN)
vi.stubGlobal('fetch', (url: string, init: RequestInit) => handle(new Request(url, init)))
// Without a timeout: a busy machine may be slow.
const limiter = createLimiter(0)(parseEnv(bindings()))
vi.useFakeTimers({ toFake: ['Date'] })
afterAll(() => {
  vi.useRealTimers()
  redis.close()
})

/**
 * Ten callers of one client, each as fast as chance has it, read pages one after the other. Each waits as `Retry-After`
 * says. Returns the most denials of a request, and how many requests passed.
 */
async function load(seed: number): Promise<{ denials: number; passed: number }> {
  const random = seededRandom(seed)
  const client = randomUUID()
  vi.setSystemTime(START)
  const log = emptyLog()
  const count = (request: string, requests = 1) =>
    consume({ client, request, limiter, now: new Date(), log, requests })
  // Another load has just emptied the bucket.
  await count('another', 100)
  const callers = Array.from({ length: CALLERS }, (_, index) => {
    const latency = random.pick([20, 200, 2000])
    return { index, latency, at: START + random.below(latency), page: 0, denials: 0 }
  })
  const end = START + (REFILLS + 1) * RATE_LIMIT.refill.seconds * 1000
  let denials = 0
  let passed = 0
  for (;;) {
    const caller = callers.reduce((first, each) => (each.at < first.at ? each : first))
    if (caller.at >= end) return { denials, passed }
    vi.setSystemTime(caller.at)
    const budget = await count(`${caller.index}-${caller.page}`)
    if (budget === null) throw new Error('The limiter failed')
    if (budget.allowed) {
      passed += 1
      caller.page += 1
      caller.denials = 0
      caller.at += caller.latency + random.below(caller.latency)
    } else {
      caller.denials += 1
      denials = Math.max(denials, caller.denials)
      caller.at += budget.refillSeconds * 1000 + random.below(caller.latency)
    }
  }
}

test(`lets each request of ten callers pass after one Retry-After, and all refills be used, in ${RUNS} runs`, async () => {
  const { requests } = RATE_LIMIT.refill
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const { denials, passed } = await load(seed)
    expect(denials, `seed ${seed}`).toBeLessThanOrEqual(1)
    expect(passed, `seed ${seed}`).toBeLessThanOrEqual(REFILLS * requests)
    expect(passed, `seed ${seed}`).toBeGreaterThan((REFILLS - 1) * requests)
  }
}, 600_000)
