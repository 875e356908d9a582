import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { upstash } from '../../emulator/upstash/handler.ts'
import { connectRedis, embeddedRedis, type RedisBackend } from '../../emulator/upstash/redis.ts'
import { createTokenBucket, LONGEST_WAIT } from '../../lib/limits/token-bucket.ts'
import { parseEnv } from '../../lib/request/env.ts'
import { bindings } from '../mocks/upstash.ts'

const { UPSTASH_REDIS_REST_TOKEN: TOKEN } = bindings()
const redis = embeddedRedis()
const handle = upstash(redis, TOKEN)
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }))
beforeEach(() =>
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    vi.setSystemTime(timeOfRedis)
    return handle(new Request(url, init))
  }),
)
afterAll(() => {
  vi.useRealTimers()
  redis.close()
})

const START = Date.parse('2026-11-22T10:00:07.250Z')
const LONG = { prefix: 'test', timeoutMs: 60_000 }

let timeOfRedis = START

/**
 * A new bucket. Takes tokens some seconds after the start, in a Worker whose clock is `ahead`; returns those that remain, or
 * the seconds to wait.
 */
function newBucket(client: string = crypto.randomUUID(), prefix = LONG.prefix) {
  const take = createTokenBucket({ ...LONG, prefix })(parseEnv(bindings()))
  return async (seconds: number, tokens = 1, ahead = 0) => {
    timeOfRedis = START + seconds * 1000
    const now = new Date(timeOfRedis + ahead * 1000)
    vi.setSystemTime(now)
    const { allowed, remaining, refillSeconds } = await take(client, tokens, () => now)
    return allowed ? remaining : `wait ${refillSeconds}`
  }
}

test('holds 100 tokens and receives 5 every 3 seconds from the first request on, never above 100', async () => {
  const take = newBucket()
  expect(await take(0, 99)).toBe(1)
  expect(await take(0, 2), 'both or none').toBe('wait 3')
  expect(await take(0)).toBe(0)
  expect(await take(2.999)).toBe('wait 1')
  expect(await take(9.5), 'three refills').toBe(14)
  expect(await take(600)).toBe(99)
})

test('files have a bucket of their own', async () => {
  const [pages, rows] = [newBucket('both'), newBucket('both', 'rows')]
  expect(await pages(0, 100)).toBe(0)
  expect(await rows(0, 5)).toBe(95)
})

test('a clock that lags refills nothing again', async () => {
  const take = newBucket()
  await take(0, 100)
  expect(await take(3, 5)).toBe(0)
  expect(await take(3.2, 1, -2)).toBe('wait 5')
  expect(await take(3.5)).toBe('wait 3')
})

test('a clock that is an hour ahead lets no more pass, in turn with others, and nobody waits an hour', async () => {
  const take = newBucket()
  let passed = 0
  for (let seconds = 0; seconds < 60; seconds += 0.25)
    for (const ahead of [0, 3600]) {
      const outcome = await take(seconds, 1, ahead)
      if (typeof outcome === 'number') passed += 1
      else expect(Number(outcome.replace('wait ', ''))).toBeLessThanOrEqual(LONGEST_WAIT)
    }
  // A full bucket of either clock, and a minute of refills.
  expect(passed).toBeLessThanOrEqual(300)
})

/** Answers Upstash's requests by a server, which does not know the flag in the first line of a script. */
function answerBy(server: RedisBackend): string[] {
  const sent: string[] = []
  const plain = (script: string) => script.replace(/^#!lua[^\n]*\n/, '')
  const known = new Map<string, string>()
  vi.stubGlobal('fetch', async (_: string, { body }: RequestInit) => {
    const [name = '', script = '', ...rest]: string[] = JSON.parse(String(body)).map(String)
    sent.push(name.toUpperCase())
    const hash = (text: string) => createHash('sha1').update(text).digest('hex')
    if (name.toUpperCase() === 'EVAL') known.set(hash(script), plain(script))
    const own = name.toUpperCase() === 'EVAL' ? plain(script) : hash(known.get(script) ?? '')
    const reply = await server.send([name, own, ...rest])
    return Response.json(reply, { status: 'error' in reply ? 400 : 200 })
  })
  return sent
}

test.runIf(process.env.REDIS_URL)('sends the script again after a restart of Redis', async () => {
  const server = await connectRedis(process.env.REDIS_URL ?? '')
  const sent = answerBy(server)
  const take = newBucket()
  expect([await take(0), await take(0)]).toEqual([99, 98])
  await server.send(['SCRIPT', 'FLUSH'])
  expect(await take(0)).toBe(97)
  expect(sent).toEqual(['EVALSHA', 'EVAL', 'EVALSHA', 'EVALSHA', 'EVAL'])
  server.close()
})
