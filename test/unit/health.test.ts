import { afterEach, expect, test, vi } from 'vitest'
import { health } from '../../lib/http/health.ts'
import { loggedLines } from '../fixtures/log.ts'
import { type NeonAnswer, neonAnswers, neonFails, neonRows } from '../mocks/neon.ts'
import { bindings, counted, counterAnswers } from '../mocks/upstash.ts'

const lines = loggedLines()

const EMPTY = neonRows([], { columns: ['as_of'] })

async function check(counter: Parameters<typeof counterAnswers>[0], database: NeonAnswer = EMPTY) {
  counterAnswers(counter)
  const requests = neonAnswers(database)
  const request = new Request('http://localhost/api/export/v1/healthz')
  return { requests, response: await health({ path: '/healthz' }).fetch(request, bindings()) }
}

test('asks each service once and returns 200 with the budget, without ETag', async () => {
  const { response } = await check(counted(1))
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ status: 'ok', counter: 'ok', dataAsOf: null })
  expect(response.headers.get('Cache-Control')).toBe('no-store')
  expect(response.headers.get('RateLimit')).toMatch(/^"default";r=99;/)
  expect(response.headers.get('ETag')).toBeNull()
  expect(lines).toMatchObject([{ event: 'request', status: 200, subrequests: { neon: 1, upstash: 1 } }])
})

test('returns 429 without asking the database when no requests are left', async () => {
  const { requests, response } = await check(counted(101))
  expect([response.status, requests]).toEqual([429, []])
})

test('waits longer than the 3 s that Neon tries to reach a compute', async () => {
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  await check(counted(1))
  expect(timeout).toHaveBeenCalledWith(4000)
  timeout.mockRestore()
})

// Each way in which Redis and the database fail: test/unit/rate-limit.test.ts and test/unit/db.test.ts.
test('stays 200 and reports a counter that fails', async () => {
  const { response } = await check(() => Promise.reject(new TypeError('away')))
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ counter: 'unavailable' })
})

test.each<[string, NeonAnswer]>([
  ['fails', neonFails({ message: 'secret detail' })],
  ['sends an incomplete result', neonRows([['1']])],
])('returns 503 when the database %s', async (_, database) => {
  const { response } = await check(counted(1), database)
  expect(response.status).toBe(503)
  expect(response.headers.get('Retry-After')).toBe('5')
})

/** A health check whose clock stands still, and its response a number of milliseconds after now. */
function isolate(...answers: readonly NeonAnswer[]) {
  counterAnswers(counted(1))
  const requests = neonAnswers(...answers)
  const { fetch } = health({ path: '/healthz' })
  const start = Date.now()
  vi.useFakeTimers({ toFake: ['Date'] })
  const at = async (ms: number) => {
    vi.setSystemTime(start + ms)
    return fetch(new Request('http://localhost/api/export/v1/healthz'), bindings())
  }
  return { requests, at }
}

afterEach(() => void vi.useRealTimers())

test('returns what the database answered up to 5 seconds ago, and counts the request', async () => {
  const times = ['2026-10-30T04:31:07.123Z', '2026-10-30T04:31:12.123Z']
  const { requests, at } = isolate(...times.map((time) => neonRows([[time]], { columns: ['as_of'] })))
  for (const [ms, dataAsOf, asked] of [
    [0, times[0], 1],
    [4999, times[0], 1],
    [5000, times[1], 2],
  ] as const) {
    expect(await (await at(ms)).json()).toEqual({ status: 'ok', counter: 'ok', dataAsOf })
    expect(requests).toHaveLength(asked)
  }
  const counts = lines.map(({ subrequests }) => subrequests)
  expect(counts).toEqual([1, 0, 1].map((neon) => ({ neon, upstash: 1 })))
})

test('returns 503 without asking again for 5 seconds after the database failed', async () => {
  const { requests, at } = isolate(neonFails({ message: 'secret detail' }), EMPTY)
  const statuses = [await at(0), await at(4999)].map(({ status }) => status)
  expect([statuses, requests.length]).toEqual([[503, 503], 1])
  expect((await at(5000)).status).toBe(200)
})

test('keeps the later of two checks, also when the earlier one answers last', async () => {
  const [first, second] = ['2026-10-30T04:31:07.123Z', '2026-10-30T04:31:08.123Z'].map((time) =>
    neonRows([[time]], { columns: ['as_of'] }),
  )
  const slow = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const { at } = isolate(async (request) => {
    asked.resolve()
    await slow.promise
    return first?.(request) ?? new Response()
  }, second ?? EMPTY)
  const earlier = at(0)
  await asked.promise
  await at(1)
  slow.resolve()
  await earlier
  expect(await (await at(2)).json()).toMatchObject({ dataAsOf: '2026-10-30T04:31:08.123Z' })
})
