import { PassThrough } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { createApi } from '../cli/api.ts'
import { CommandError } from '../cli/errors.ts'
import { createProgress } from '../cli/progress.ts'
import { type Answer, dropped, failure, page } from './fake-api.ts'
import { delay, skipWaits } from './skip-waits.ts'

// A wrong address fails within seconds. An outage of a service that has responded is waited for.

skipWaits()

const slow: Answer = async (init) => {
  await delay(10_000)
  return dropped(init)
}

const timedOut: Answer = async () => {
  await delay(60_000)
  throw new DOMException('The operation was aborted due to timeout', 'TimeoutError')
}

/** Asks for the brands with these answers, the last one for all later requests. */
async function outcomeOf(answers: readonly Answer[]) {
  let requests = 0
  vi.stubGlobal('fetch', (_: URL, init: RequestInit) => {
    requests += 1
    return answers[Math.min(requests, answers.length) - 1]?.(init)
  })
  const progress = createProgress({ stream: new PassThrough() })
  const started = performance.now()
  const error: unknown = await createApi({ url: 'https://service.example', key: 'svc_live_1' }, progress)
    .brands()
    .catch((error) => error)
  return { error, requests, seconds: (performance.now() - started) / 1000 }
}

test.for<[string, Answer, number, number]>([
  ['refuses connections', dropped, 3, 3],
  ['accepts none in time', slow, 1, 10],
])('a service fails soon that %s', async ([, answer, requests, seconds]) => {
  const outcome = await outcomeOf([answer])
  expect(outcome).toMatchObject({ requests, seconds })
  expect(outcome.error).toBeInstanceOf(CommandError)
  expect(outcome.error).toMatchObject({
    message:
      'Cannot reach https://service.example: connect ECONNREFUSED 127.0.0.1:1. Check EXPORT_API_URL or --url, and whether the service runs.',
  })
})

test('a service that has responded once, if only with 503, is waited for', async () => {
  const { error, seconds } = await outcomeOf([dropped, failure(503), dropped])
  expect(String(error)).toMatch(/^ConnectionError: No complete response from /)
  expect(seconds).toBeGreaterThan(240)
})

test('a service that accepts connections and does not answer in time is waited for', async () => {
  expect(await outcomeOf([timedOut, page([])])).toMatchObject({ error: [], requests: 2 })
})

test('two failures before the first response cost nothing', async () => {
  expect(await outcomeOf([dropped, dropped, page([])])).toMatchObject({ error: [], requests: 3 })
})
