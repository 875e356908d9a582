import { PassThrough } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { createApi } from '../cli/api.ts'
import { CommandError } from '../cli/errors.ts'
import { createProgress } from '../cli/progress.ts'
import { ConnectionError } from '../src/index.ts'
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

const unreachable = new CommandError(
  'Cannot reach https://service.example: connect ECONNREFUSED 127.0.0.1:1. Check EXPORT_API_URL or --url, and whether the service runs.',
)

test.for<[string, readonly Answer[], object]>([
  ['a service that refuses connections', [dropped], { error: unreachable, requests: 3, seconds: 3 }],
  ['a service that accepts none in time', [slow], { error: unreachable, requests: 1, seconds: 10 }],
  [
    'an outage after the first response, if only 503',
    [dropped, failure(503), dropped],
    { error: expect.any(ConnectionError), requests: 10 },
  ],
  ['a connection without a response in time', [timedOut, page([])], { error: [], requests: 2 }],
  ['two failures before the first response', [dropped, dropped, page([])], { error: [], requests: 3 }],
])('%s', async ([, answers, outcome]) => {
  expect(await outcomeOf(answers)).toMatchObject(outcome)
})
