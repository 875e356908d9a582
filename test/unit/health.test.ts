import { expect, test, vi } from 'vitest'
import { health } from '../../lib/health.ts'
import { loggedLines } from '../support/log.ts'
import { type NeonAnswer, neonAnswers, neonFails, neonRows, silence } from '../support/neon.ts'

const ENV = {
  DATABASE_URL: 'postgresql://me:secret@db.example/x',
  UPSTASH_REDIS_REST_URL: 'https://counter.example',
  UPSTASH_REDIS_REST_TOKEN: 'token',
  CURSOR_SECRET: 'secret',
}

const lines = loggedLines()

type Counter = (url: string, init: RequestInit) => Response | Promise<Response>

const WELL: Counter = () => Response.json({ result: 'PONG' })
const ALIVE = neonRows([['1']], { columns: 1 })

async function check(counter: Counter, database: NeonAnswer = ALIVE): Promise<Response> {
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => counter(url, init))
  neonAnswers(database)
  return health({ path: '/healthz' }).fetch(new Request('http://localhost/api/export/v1/healthz'), ENV)
}

test('both servers are asked, once each, and nobody keeps the answer', async () => {
  const counter = vi.fn(WELL)
  const response = await check(counter)
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ status: 'ok', counter: 'ok' })
  expect(response.headers.get('Cache-Control')).toBe('no-store')
  for (const name of ['ETag', 'RateLimit-Policy']) expect(response.headers.get(name)).toBeNull()
  expect(counter.mock.calls).toMatchObject([
    [
      'https://counter.example',
      { method: 'POST', headers: { Authorization: 'Bearer token' }, body: '["PING"]' },
    ],
  ])
  expect(lines).toMatchObject([{ event: 'request', status: 200, trips: { neon: 1, upstash: 1 } }])
})

test.each<[string, Counter]>([
  ['cannot be reached', () => Promise.reject(new TypeError('away'))],
  ['refuses', () => Response.json({ error: 'WRONGPASS' }, { status: 401 })],
  ['is silent', (_, init) => silence(init)],
])('a counter that %s is told of, and costs nothing', async (_, counter) => {
  const response = await check(counter)
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ status: 'ok', counter: 'away' })
})

test.each<[string, NeonAnswer]>([
  ['fails', neonFails({ message: 'secret detail' })],
  ['answers in part', neonRows([['1']])],
  ['is silent', silence],
])('a database that %s is 503', async (_, database) => {
  const response = await check(WELL, database)
  expect(response.status).toBe(503)
  expect(response.headers.get('Retry-After')).toBe('5')
})
