import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import type { Retry } from '../src/index.ts'
import {
  cut,
  dropped,
  type FakeRequest,
  failure,
  fakeApi,
  hanging,
  META,
  page,
  toArray,
  WINDOW,
} from './fake-api.ts'
import { delay, skipWaits } from './skip-waits.ts'

skipWaits()

/** Seconds between requests. */
const gaps = (requests: readonly FakeRequest[]) =>
  requests.slice(1).map(({ atMs }, index) => (atMs - (requests[index]?.atMs ?? 0)) / 1000)

const website = () => new Response('<!doctype html>')
const PASSING = { dropped, cut, website, 429: failure(429, 2), 500: failure(500), 503: failure(503) }

test('failures that pass cost no row and no page', async () => {
  const lacking = () => Response.json({ data: [], pagination: { hasMore: true }, meta: META })
  const passing = fc.array(fc.constantFrom(lacking, ...Object.values(PASSING)), { maxLength: 5 })
  const someRows = fc.array(fc.integer(), { maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(passing, someRows), { minLength: 1, maxLength: 4 }), async (plan) => {
      const answers = plan.flatMap(([failures, rows], index) => [
        ...failures,
        page(rows, index === plan.length - 1 ? null : `c${index}`),
      ])
      const { api, requests } = fakeApi(answers)
      expect(await toArray(api.metric('visibility')(WINDOW))).toEqual(plan.flatMap(([, rows]) => rows))
      expect(requests).toHaveLength(answers.length)
    }),
    { numRuns: 50 },
  )
})

test('a request waits as long as the service says, else longer each time, up to the refill of the rate limit', async () => {
  const failures = [dropped, failure(503, 7), cut, failure(500), website, failure(429, 0), failure(429)]
  const retries: Retry[] = []
  const { api, requests } = fakeApi([...failures, page([])], { onRetry: (retry) => retries.push(retry) })
  await api.brands()
  expect(gaps(requests)).toEqual([1, 7, 4, 8, 12, 0, 12])
  expect(retries.map(({ waitMs, error }) => [waitMs, error.message])).toEqual([
    [1000, 'No complete response from https://service.example: connect ECONNREFUSED 127.0.0.1:1.'],
    [7000, 'Message of 503.'],
    [4000, 'No complete response from https://service.example: the body is no JSON.'],
    [8000, 'Message of 500.'],
    [12_000, 'https://service.example did not return rows. Check baseUrl.'],
    [0, 'Message of 429.'],
    [12_000, 'Message of 429.'],
  ])
})

test('a 429 holds back all requests, a 503 only its own', async () => {
  const pages = [page([]), page([])]
  const { api, requests } = fakeApi([failure(429, 30), ...pages, failure(503, 30), ...pages])
  const two = () => Promise.all([api.brands(), delay(10_000).then(() => api.brands())])
  await two()
  await two()
  expect(gaps(requests)).toEqual([30, 0, 0, 10, 20])
})

test.each(
  Object.entries({ ...PASSING, hanging }),
)('an abort ends a request, and the wait after a failure that passes: %s', async (_, answer) => {
  const { api, requests } = fakeApi([answer])
  const controller = new AbortController()
  const reason = new Error('Enough')
  setTimeout(() => controller.abort(reason), 500)
  const start = performance.now()
  await expect(api.brands({ signal: controller.signal })).rejects.toBe(reason)
  expect(performance.now() - start).toBe(500)
  expect(requests).toHaveLength(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('an abort ends the wait that another request began, and prevents later requests', async () => {
  const { api, requests } = fakeApi([failure(429, 30), page([])])
  const first = api.brands()
  await delay(10)
  const controller = new AbortController()
  const reason = new Error('Enough')
  setTimeout(() => controller.abort(reason), 500)
  await expect(api.brands(controller)).rejects.toBe(reason)
  expect(performance.now()).toBe((requests[0]?.atMs ?? 0) + 510)
  await first
  await expect(api.brands(controller)).rejects.toBe(reason)
  expect(requests).toHaveLength(2)
})

test('an abort between two pages sends no request', async () => {
  const { api, requests } = fakeApi([page([1], 'cFirst')])
  const controller = new AbortController()
  const rows = api.metric('visibility')({ ...WINDOW, signal: controller.signal })
  expect(await rows.next()).toEqual({ done: false, value: 1 })
  controller.abort()
  await expect(rows.next()).rejects.toBe(controller.signal.reason)
  expect(await rows.next()).toEqual({ done: true, value: undefined })
  expect(requests).toHaveLength(1)
})
