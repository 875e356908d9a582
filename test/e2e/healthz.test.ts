import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Emulator } from '../../emulator/start.ts'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { ERRORS } from '../../lib/errors.ts'
import { call } from '../support/call.ts'
import type { OwnDatabase } from '../support/database.ts'
import { expectError } from '../support/expect-error.ts'
import { isolatedDatabase } from '../support/isolated.ts'
import { startOwnService } from '../support/own-service.ts'

let its: OwnDatabase
let service: Emulator
let intercept: Intercept = () => undefined

// A database of its own: the embedded one of all tests is busy with one of them for longer than a check waits.
beforeAll(async () => {
  its = await isolatedDatabase()
  service = await startOwnService({
    databaseUrl: its.url,
    intercept: (...asked) => intercept(...asked),
  })
})

afterAll(async () => {
  await service?.close()
  await its?.drop()
})

beforeEach(() => {
  intercept = () => undefined
})

const ask = (path: string, init: RequestInit = {}) => fetch(`${service.url}/api/export/v1${path}`, init)
const check = (init: RequestInit = {}) => ask('/healthz', init)

test('returns 200 without a key, and must not be stored', async () => {
  const response = await check()
  const { status, headers } = response
  expect([status, await response.json()]).toEqual([200, { status: 'ok', counter: 'ok' }])
  expect(headers.get('Content-Type')).toBe('application/json')
  expect(headers.get('Cache-Control')).toBe('no-store')
  expect(headers.get('ETag')).toBeNull()
  const head = await check({ method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('consumes no budget', async () => {
  const headers = { Cookie: `session=${randomUUID()}` }
  expect((await check({ headers })).headers.get('RateLimit')).toBeNull()
  expect((await ask('/openapi.json', { headers })).headers.get('RateLimit')).toMatch(/r=99;/)
})

test('sends one request to each server', async () => {
  const before = service.subrequests()
  await check()
  expect(service.subrequests()).toEqual({ neon: before.neon + 1, upstash: before.upstash + 1 })
})

// Every fault of both servers: test/unit/health.test.ts.
const isAway = () => Promise.resolve(new Response('away', { status: 502 }))

test('returns 503 with Retry-After while the database is away', async () => {
  intercept = (asked) => (asked === 'neon' ? isAway() : undefined)
  const response = await check()
  expect(response.status).toBe(503)
  expect(response.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
  expect(response.headers.get('Cache-Control')).toBe('no-store')
  expect(await response.json()).toEqual({ error: ERRORS.database[1] })
})

test('returns 200 and reports Redis as away', async () => {
  intercept = (asked) => (asked === 'upstash' ? isAway() : undefined)
  const response = await check()
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok', counter: 'away' }])
})

test('returns 404 and 405 like every path', async () => {
  for (const other of ['/healthz/', '/healthzx', '/HEALTHZ', '/healthz/live', '/health']) {
    expectError(await call(other), 404)
  }
  const answer = await call('/healthz', { method: 'POST' })
  expectError(answer, 405)
  expect(answer.headers.get('Allow')).toBe('GET, HEAD')
})
