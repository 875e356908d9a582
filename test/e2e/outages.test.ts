import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Intercept, Service } from '../../emulator/workers/outbound.ts'
import { ERRORS } from '../../lib/request/errors.ts'
import { findEndpoints } from '../fixtures/endpoints.ts'
import { isolatedPool } from '../fixtures/isolated-database.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

// A database of its own: the embedded one of all tests may be busy for longer than a health check waits.
// Every fault of Neon and Upstash, at every stage of a request: test/robustness/faults.
const { db, url: databaseUrl } = await isolatedPool()
const endpoints = await findEndpoints()

let intercept: Intercept = () => undefined
let log: string[] = []

const service = await startOwnService({
  databaseUrl,
  intercept: (...asked) => intercept(...asked),
  onLog: (line) => log.push(line),
})
afterAll(() => service.close())

beforeEach(() => {
  intercept = () => undefined
  log = []
})

const stop = (stopped: Service) => {
  intercept = (asked) =>
    asked === stopped ? Promise.resolve(new Response('secret detail', { status: 502 })) : undefined
}

async function send(path: string, { key, brandId }: Partial<Tenant> = {}) {
  const url = new URL(`/api/export/v1${path}`, service.url)
  if (brandId !== undefined) url.searchParams.set('brandId', brandId)
  return fetch(url, {
    headers: { 'User-Agent': randomUUID(), ...(key !== undefined && { 'X-API-Key': key }) },
  })
}

test('returns 503 with Retry-After at every endpoint while the database is away, and recovers', async () => {
  const its = await tenant(db)
  stop('neon')
  // The health check answers from a copy for five seconds.
  await expect.poll(async () => (await send('/healthz')).status).toBe(503)
  for (const path of [...endpoints.map(({ path }) => path), '/healthz']) {
    const response = await send(path, its)
    expect([path, response.status]).toEqual([path, 503])
    expect(response.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(await response.json()).toEqual({ error: ERRORS.database.message })
  }
  // What needs no database is answered as usual.
  expect((await send('/openapi.json')).status).toBe(200)
  expect((await send('/brands/', its)).status).toBe(404)
  expect((await send('/brands')).status).toBe(401)
  expect(log.join('\n')).not.toMatch(new RegExp(`${its.key}|${its.brandId}|secret detail`))
  intercept = () => undefined
  expect((await send('/visibility', its)).status).toBe(200)
})
