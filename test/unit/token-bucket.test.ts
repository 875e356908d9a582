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
