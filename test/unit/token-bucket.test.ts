import { afterAll, expect, test, vi } from 'vitest'
import { upstash } from '../../emulator/upstash/handler.ts'
import { embeddedRedis } from '../../emulator/upstash/redis.ts'
import { RATE_LIMIT } from '../../lib/limits/rate-limit.ts'
import { createTokenBucket } from '../../lib/limits/token-bucket.ts'
import { parseEnv } from '../../lib/request/env.ts'
import { bindings } from '../mocks/upstash.ts'

const redis = embeddedRedis()
afterAll(() => redis.close())
const handle = upstash(redis, bindings().UPSTASH_REDIS_REST_TOKEN)
vi.stubGlobal('fetch', (url: string, init: RequestInit) => handle(new Request(url, init)))

const START = Date.parse('2026-11-22T10:00:07.250Z')

let clients = 0

/** A new bucket. Takes tokens some seconds after the start; returns those that remain, or the seconds to wait. */
function newBucket(tokens: number, places?: number) {
  clients += 1
  const client = `client-${clients}`
  const bucket = {
    ...RATE_LIMIT,
    requests: tokens,
    timeoutMs: 60_000,
    ...(places !== undefined && { places }),
  }
  const takeFrom = createTokenBucket(bucket)(parseEnv(bindings()))
  return async (seconds: number, request: string, requests = 1, leave = 0) => {
    const now = new Date(START + seconds * 1000)
    const { allowed, remaining, refillSeconds } = await takeFrom({ client, request, requests, leave, now })
    return allowed ? remaining : `wait ${refillSeconds}`
  }
}

test('holds 100 tokens and receives 20 every 12 seconds from the first request on, never above 100', async () => {
  const take = newBucket(100)
  expect(await take(0, 'a', 99)).toBe(1)
  expect(await take(0, 'b', 2), 'both or none').toBe('wait 12')
  expect(await take(0, 'c')).toBe(0)
  expect(await take(11.999, 'd')).toBe('wait 1')
  expect(await take(40.5, 'e'), 'three refills').toBe(59)
  expect(await take(600, 'f')).toBe(99)
})

test('leaves tokens to other requests', async () => {
  const take = newBucket(10)
  expect(await take(0, 'a', 5, 5)).toBe(5)
  expect(await take(0, 'b', 1, 5)).toBe('wait 12')
  expect(await take(0, 'c', 5)).toBe(0)
})

test('reserves tokens for what was rejected, in the order of its first rejection, for an interval', async () => {
  const take = newBucket(20)
  await take(0, 'a', 20)
  expect(await take(1, 'first', 15)).toBe('wait 11')
  expect(await take(13, 'new', 6), 'five are left').toBe('wait 11')
  expect(await take(13, 'new', 5)).toBe(0)
  expect(await take(14, 'first', 15)).toBe(0)

  expect(await take(15, 'second', 15)).toBe('wait 9')
  expect(await take(25, 'third', 6)).toBe('wait 11')
  expect(await take(26, 'second', 16), 'as many as it asks for now').toBe(4)
  expect(await take(37, 'third', 20)).toBe(0)

  expect(await take(38, 'gone', 20)).toBe('wait 10')
  expect(await take(59.9, 'new', 1), 'until the end of the next interval').toBe('wait 1')
  expect(await take(60, 'new', 1)).toBe(19)
})

test('keeps the place of a caller that waits a minute', async () => {
  const take = newBucket(20)
  await take(0, 'a', 20)
  expect(await take(1, 'slow', 15)).toBe('wait 11')
  expect(await take(13, 'fast', 20)).toBe('wait 11')
  for (const seconds of [25, 37, 49]) expect(await take(seconds, 'fast', 20)).toBe(0)
  expect(await take(50, 'later', 15)).toBe('wait 10')
  expect(await take(61, 'slow', 15)).toBe(0)
  expect(await take(62, 'later', 15)).toBe('wait 10')
})

test('passes over what needs more than there is', async () => {
  const take = newBucket(20)
  await take(0, 'a', 15)
  expect(await take(1, 'file', 5, 30)).toBe('wait 11')
  expect(await take(13, 'page')).toBe(19)
})

test('forgets what was rejected first when too many wait', async () => {
  const take = newBucket(20, 2)
  await take(0, 'a', 20)
  for (const request of ['first', 'second', 'third']) await take(1, request, 10)
  expect(await take(13, 'first', 10)).toBe('wait 11')
  expect(await take(13, 'third', 10)).toBe(10)
})

test('a clock that lags refills nothing again', async () => {
  const take = newBucket(20)
  await take(0, 'a', 20)
  expect(await take(13, 'b', 20)).toBe(0)
  expect(await take(5, 'lagging', 1)).toBe('wait 12')
  expect(await take(14, 'c', 1)).toBe('wait 10')
})

test.each([
  3600, -3600,
])('a request of a clock that is %i seconds off keeps nobody waiting', async (offset) => {
  const take = newBucket(20)
  await take(0, 'a', 20)
  await take(1 + offset, 'off')
  await take(13, 'b', 15)
  expect(await take(13, 'c', 20)).toBe('wait 12')
  expect(await take(25, 'c', 20)).toBe(0)
})

type Caller = {
  /** Seconds between a response and the next request. */
  readonly latency: number
  readonly requests?: number
  readonly leave?: number
  /** Whether it sends the same request again instead of waiting. */
  readonly floods?: boolean
}

const loader = (latency: number): Caller => ({ latency })
const file: Caller = { latency: 0.03, requests: 5, leave: 5 }
const flood: Caller = { latency: 0.5, floods: true }

/** Lets callers share a bucket for seven refills. Returns what each took, and its most rejections in a row. */
async function share(callers: readonly Caller[]) {
  const take = newBucket(100)
  const all = callers.map((caller) => ({ ...caller, at: caller.latency, taken: 0, rejected: 0, most: 0 }))
  for (;;) {
    const next = all.toSorted((one, other) => one.at - other.at)[0]
    if (next === undefined || next.at > 95) return all
    const { at, latency, requests = 1, leave = 0, floods } = next
    const name = `${all.indexOf(next)}-${floods || requests > 1 ? '' : next.taken}`
    const outcome = await take(at, name, requests, leave)
    const isTaken = typeof outcome === 'number'
    next.rejected = isTaken ? 0 : next.rejected + 1
    next.most = Math.max(next.most, next.rejected)
    if (isTaken) next.taken += requests
    next.at += latency + (isTaken || floods ? 0 : Number(outcome.replace('wait ', '')))
  }
}

test.each([
  ['loaders of different speeds', 1, 6, [0.05, 0.2, 0.2, 2, 2].map(loader)],
  ['twenty fast loaders and a slow one', 2, 3, [...Array(20).fill(0.1), 2].map(loader)],
  ['a file and loaders', 1, 15, [file, ...Array(6).fill(0.1).map(loader)]],
  ['loaders and a file next to a flood', 1, 6, [loader(0.05), loader(2), file, flood]],
])('%s that wait as they are told share the refills', async (_, most, fewest, callers) => {
  const all = await share(callers)
  const taken = all.reduce((sum, each) => sum + each.taken, 0)
  expect(taken).toBeLessThanOrEqual(100 + 7 * 20)
  expect(taken).toBeGreaterThanOrEqual(100 + 4 * 20)
  for (const each of all.filter(({ floods }) => !floods)) {
    expect(each.most).toBeLessThanOrEqual(most)
    expect(each.taken).toBeGreaterThanOrEqual(fewest)
  }
})
