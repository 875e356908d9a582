import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Emulator } from '../../emulator/start.ts'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { call } from '../support/call.ts'
import type { OwnDatabase } from '../support/database.ts'
import { isolatedDatabase } from '../support/isolated.ts'
import { startOwnService } from '../support/own-service.ts'
import { expectError } from '../support/refusal.ts'

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

test('answers 200 without a key, and is not to be stored', async () => {
  const response = await check()
  const { status, headers } = response
  expect([status, await response.json()]).toEqual([200, { status: 'ok', counter: 'ok' }])
  expect(headers.get('Content-Type')).toBe('application/json')
  expect(headers.get('Cache-Control')).toBe('no-store')
  expect(headers.get('ETag')).toBeNull()
  const head = await check({ method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('spends no budget, and answers whoever has none left', async () => {
  const headers = { Cookie: `session=${randomUUID()}` }
  for (let round = 0; round < 12; round += 1) {
    const checks = await Promise.all(Array.from({ length: 10 }, () => check({ headers })))
    expect(checks.map(({ status }) => status)).not.toContain(429)
    for (const name of ['RateLimit', 'RateLimit-Policy']) expect(checks[0]?.headers.get(name)).toBeNull()
  }
  expect((await ask('/openapi.json', { headers })).headers.get('RateLimit')).toMatch(/r=99;/)
})

test('asks each server once', async () => {
  const before = service.subrequests()
  await check()
  expect(service.subrequests()).toEqual({ neon: before.neon + 1, upstash: before.upstash + 1 })
})

const faults: Readonly<Record<string, () => Promise<Response>>> = {
  'cannot be reached': () => Promise.resolve(new Response('away', { status: 502 })),
  'answers something else': () => Promise.resolve(Response.json({ rows: 'none', result: 'none' })),
  'is silent': () => delay(20_000, new Response(), { ref: false }),
}

test.each(Object.entries(faults))('is 503 within its patience when the database %s', async (_, fault) => {
  intercept = (asked) => (asked === 'neon' ? fault() : undefined)
  const start = Date.now()
  const response = await check()
  expect(Date.now() - start).toBeLessThan(4500)
  expect(response.status).toBe(503)
  expect(response.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
  expect(response.headers.get('Cache-Control')).toBe('no-store')
  expect(Object.keys(await response.json())).toEqual(['error'])
})

test.each(Object.entries(faults))('stays 200 and tells of it when the counter %s', async (_, fault) => {
  intercept = (asked) => (asked === 'upstash' ? fault() : undefined)
  const start = Date.now()
  const response = await check()
  expect(Date.now() - start).toBeLessThan(2000)
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok', counter: 'away' }])
})

test('passes the gate of the path and the method', async () => {
  for (const other of ['/healthz/', '/healthzx', '/HEALTHZ', '/healthz/live', '/health']) {
    expectError(await call(other), 404)
  }
  const answer = await call('/healthz', { method: 'POST' })
  expectError(answer, 405)
  expect(answer.headers.get('Allow')).toBe('GET, HEAD')
})
