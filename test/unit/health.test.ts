import { expect, test } from 'vitest'
import { health } from '../../lib/health.ts'
import { bindings, counterAnswers, silent } from '../support/counter.ts'
import { loggedLines } from '../support/log.ts'
import { type NeonAnswer, neonAnswers, neonFails, neonRows, silence } from '../support/neon.ts'

const lines = loggedLines()

type Counter = Parameters<typeof counterAnswers>[0]

const PONG: Counter = () => Response.json({ result: 'PONG' })
const ALIVE = neonRows([['1']], { columns: ['?column?'] })

async function check(counter: Counter, database: NeonAnswer = ALIVE) {
  const requests = counterAnswers(counter)
  neonAnswers(database)
  const request = new Request('http://localhost/api/export/v1/healthz')
  return { requests, response: await health({ path: '/healthz' }).fetch(request, bindings()) }
}

test('asks each service once and returns 200 without budget or ETag', async () => {
  const { requests, response } = await check(PONG)
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ status: 'ok', counter: 'ok' })
  expect(response.headers.get('Cache-Control')).toBe('no-store')
  for (const name of ['ETag', 'RateLimit-Policy']) expect(response.headers.get(name)).toBeNull()
  expect(requests).toMatchObject([
    { method: 'POST', headers: { Authorization: 'Bearer token' }, body: '["PING"]' },
  ])
  expect(lines).toMatchObject([{ event: 'request', status: 200, subrequests: { neon: 1, upstash: 1 } }])
})

test.each<[string, Counter]>([
  ['cannot be reached', () => Promise.reject(new TypeError('away'))],
  ['rejects the token', () => Response.json({ error: 'WRONGPASS' }, { status: 401 })],
  ['does not answer', silent],
])('stays 200 and reports a counter that %s', async (_, counter) => {
  const { response } = await check(counter)
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ status: 'ok', counter: 'away' })
})

test.each<[string, NeonAnswer]>([
  ['fails', neonFails({ message: 'secret detail' })],
  ['sends an incomplete result', neonRows([['1']])],
  ['does not answer', silence],
])('returns 503 when the database %s', async (_, database) => {
  const { response } = await check(PONG, database)
  expect(response.status).toBe(503)
  expect(response.headers.get('Retry-After')).toBe('5')
})
