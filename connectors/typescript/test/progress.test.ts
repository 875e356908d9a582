import { PassThrough } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { createApi } from '../cli/api.ts'
import { createProgress } from '../cli/progress.ts'
import { readRateLimit, waitSeconds } from '../cli/rate-limit.ts'
import { page } from './fake-api.ts'

const headers = (remaining: number) => ({
  'RateLimit-Policy': '"default";q=100;w=60',
  RateLimit: `"default";r=${remaining};t=7`,
})

test.each([
  [30, 30, 0],
  [31, 30, 0.6],
  [170, 100, 42],
  [4800, 0, 2880],
])('%d requests with %d left wait %d s', (needed, remaining, seconds) => {
  const limit = readRateLimit(new Headers(headers(remaining)))
  expect(limit).toEqual({ requests: 100, seconds: 60, remaining })
  expect(limit && waitSeconds(needed, limit)).toBeCloseTo(seconds)
})

test('responses that are not counted have no rate limit', () => {
  const { 'RateLimit-Policy': policy } = headers(0)
  expect(readRateLimit(new Headers({ 'RateLimit-Policy': policy }))).toBeUndefined()
  expect(readRateLimit(new Headers())).toBeUndefined()
})

/** Returns the progress after a response that leaves 30 requests, and what it has written. */
async function afterResponse(isTTY: boolean) {
  const output = new PassThrough()
  const progress = createProgress({ stream: Object.assign(output, { isTTY }) })
  vi.stubGlobal('fetch', page([], null, headers(30)))
  await createApi({ url: 'https://service.example', key: 'svc_live_1' }, progress).brands()
  vi.unstubAllGlobals()
  return { progress, written: () => String(output.read() ?? '') }
}

test('a log has how long a load beyond the burst takes, again when that has doubled', async () => {
  const { progress, written } = await afterResponse(false)
  progress.expect(30_000, 30)
  expect(written()).toBe('')
  progress.expect(70_000, 70)
  expect(JSON.parse(written())).toMatchObject({
    level: 'info',
    event: 'rate_limit',
    message: '100 requests take about 42 s or longer: the service allows 100 in 60 s.',
    requests: 100,
    seconds: 42,
  })
  progress.expect(50_000, 50)
  expect(written()).toBe('')
  progress.expect(50_000, 50)
  expect(JSON.parse(written())).toMatchObject({ requests: 200, seconds: 102 })
})

test('the time left on a terminal is that of the rate limit, however fast the burst was', async () => {
  const { progress, written } = await afterResponse(true)
  progress.expect(100_000, 100)
  for (let pages = 0; pages < 30; pages += 1) progress.receive(1000)
  progress.respond(new Headers(headers(0)))
  progress.stop()
  expect(written()).toMatch(/30000\/100000 rows · 1 requests · 40s left/)
})
