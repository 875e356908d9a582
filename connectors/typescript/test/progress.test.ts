import { PassThrough } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { createApi } from '../cli/api.ts'
import { createProgress, readRateLimit, waitSeconds } from '../cli/progress.ts'
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
  const { RateLimit: _, ...policy } = headers(0)
  for (const each of [policy, {}]) expect(readRateLimit(new Headers(each))).toBeUndefined()
})

/** Returns a progress, and what it has written since the last call. */
function newProgress(isTTY: boolean) {
  const output = new PassThrough()
  const progress = createProgress({ stream: Object.assign(output, { isTTY, columns: 80 }) })
  return { progress, written: () => String(output.read() ?? '') }
}

test('a log has how long a load beyond the burst takes, again when that has doubled', async () => {
  const { progress, written } = newProgress(false)
  vi.stubGlobal('fetch', page([], null, headers(30)))
  await createApi({ url: 'https://service.example', key: 'svc_live_1' }, progress).brands()
  vi.unstubAllGlobals()
  const expectPages = (pages: number) => {
    progress.expect(1000 * pages, pages)
    return written()
  }
  expect(expectPages(30)).toBe('')
  expect(JSON.parse(expectPages(70))).toMatchObject({
    level: 'info',
    event: 'rate_limit',
    message: '100 requests take about 42 s or longer: the service allows 100 in 60 s.',
    requests: 100,
    seconds: 42,
  })
  expect(expectPages(50)).toBe('')
  expect(JSON.parse(expectPages(50))).toMatchObject({ requests: 200, seconds: 102 })
})

test('a terminal shows at once what happens, then a bar, and the time left by the rate limit', () => {
  const { progress, written } = newProgress(true)
  progress.begin('Listing what changed at https://service.example')
  expect(written()).toMatch(/Listing what changed at https:\/\/service\.example · \d+ s/)
  progress.request()
  progress.respond(new Headers(headers(30)))
  progress.expect(100_000, 100)
  for (let pages = 0; pages < 30; pages += 1) progress.receive(1000)
  // However fast the burst was.
  progress.respond(new Headers(headers(0)))
  progress.stop()
  // The bar is the only estimate.
  expect(written()).toMatch(/^(?!.*or longer).*30,000\/100,000 rows · 1 request · 40s left/s)
})

test('a bar does not run backwards when more rows are expected', async () => {
  const { progress, written } = newProgress(true)
  progress.begin('Listing')
  progress.expect(1000)
  progress.receive(900)
  await expect.poll(written).toContain('900/1,000 rows')
  progress.expect(1000)
  progress.stop()
  expect(written()).toMatch(/={18}-- 900\/2,000 rows/)
})

test('a terminal counts down a routine wait and says for what, and a log has a line', () => {
  const terminal = newProgress(true)
  terminal.progress.begin('Listing')
  terminal.progress.wait('Too many. Waits 9 s.', 9, 'the rate limit')
  terminal.progress.stop()
  expect(terminal.written()).toMatch(/^(?!.*Too many).*Listing · waiting \d s for the rate limit/s)
  terminal.progress.begin('Listing')
  terminal.progress.expect(2_345_678)
  terminal.progress.stop()
  expect(terminal.written()).toMatch(/0\/2,345,678 rows · waiting \d+s for the rate limit/)
  const log = newProgress(false)
  log.progress.wait('Too many. Waits 9 s.', 9, 'the rate limit')
  expect(JSON.parse(log.written())).toMatchObject({ level: 'warn', event: 'wait', seconds: 9 })
})

test.for([
  true,
  false,
])('a terminal has a wait while it is waited, also after an activity: %s', async (isShown) => {
  const { progress, written } = newProgress(true)
  if (isShown) progress.begin('Listing')
  progress.wait('No response. Waits 4 s.', 4)
  await expect.poll(written).toMatch(/^(?!.*Listing.*No response).*No response\. Waits 4 s\.\n/s)
  progress.stop()
  progress.notice('done', ['Copied.', 'Open it.'])
  expect(written()).toMatch(/Copied\.\nOpen it\.\n$/)
})

test('a log has the lines of a notice as one message, without text that a terminal interprets', () => {
  const { progress, written } = newProgress(false)
  const hostile = 'a\u001b]0;owned\u0007\u202e\u009bb'
  progress.begin('Listing')
  progress.notice('done', ['Copied.', hostile], { rows: 1 })
  const line = written()
  expect(line).toMatch(/^[ -~]+\n$/)
  expect(JSON.parse(line)).toMatchObject({ event: 'done', message: `Copied. ${hostile}`, rows: 1 })
})

test('a terminal interprets no text of the service, and its lines end between words', () => {
  const { progress, written } = newProgress(true)
  progress.notice('differs', `\u001b]0;owned\u0007${' word'.repeat(20)} ${'x'.repeat(90)}\u202e\u009b end.`)
  const words = `${' word'.repeat(12)}\n${'word '.repeat(8).trim()}\n`
  expect(written()).toBe(`\\u001b]0;owned\\u0007${words}${'x'.repeat(90)}\\u202e\\u009b\nend.\n`)
})
