import { expect, test, vi } from 'vitest'
import { health } from '../../lib/health.ts'
import { loggedLines } from '../fixtures/log.ts'
import { type NeonAnswer, neonAnswers, neonFails, neonRows, silence } from '../mocks/neon.ts'
import { bindings, counted, counterAnswers, silent } from '../mocks/upstash.ts'

const lines = loggedLines()

type Counter = Parameters<typeof counterAnswers>[0]

const EMPTY = neonRows([], { columns: ['as_of'] })

async function check(counter: Counter, database: NeonAnswer = EMPTY) {
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

test('reports the time before which every change is served', async () => {
  const asOf = '2026-10-30T04:31:07.123Z'
  const { response } = await check(counted(1), neonRows([[asOf]], { columns: ['as_of'] }))
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ status: 'ok', counter: 'ok', dataAsOf: asOf })
})

test('waits longer than the 3 s that Neon tries to reach a compute', async () => {
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  await check(counted(1))
  expect(timeout).toHaveBeenCalledWith(4000)
  timeout.mockRestore()
})

test.each<[string, Counter]>([
  ['cannot be reached', () => Promise.reject(new TypeError('away'))],
  ['rejects the token', () => Response.json({ error: 'WRONGPASS' }, { status: 401 })],
  ['does not answer', silent],
])('stays 200 and reports a counter that %s', async (_, counter) => {
  const { response } = await check(counter)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ counter: 'away' })
})

test.each<[string, NeonAnswer]>([
  ['fails', neonFails({ message: 'secret detail' })],
  ['sends an incomplete result', neonRows([['1']])],
  ['does not answer', silence],
])('returns 503 when the database %s', async (_, database) => {
  const { response } = await check(counted(1), database)
  expect(response.status).toBe(503)
  expect(response.headers.get('Retry-After')).toBe('5')
})
