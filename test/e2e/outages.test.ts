import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Emulator } from '../../emulator/start.ts'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { ERRORS } from '../../lib/errors.ts'
import { findEndpoints } from '../support/endpoints.ts'
import { startOwnService } from '../support/own-service.ts'
import { type Tenant, tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'

const db = database()
const endpoints = await findEndpoints()

let service: Emulator
let intercept: Intercept = () => undefined
let log: string[] = []

// Every fault of Neon and Upstash, at every stage of a request: test/robustness/faults.
beforeAll(async () => {
  service = await startOwnService({
    vars: { SESSION_COOKIE: 'sid' },
    intercept: (...asked) => intercept(...asked),
    onLog: (line) => log.push(line),
  })
})

afterAll(() => service.close())

beforeEach(() => {
  intercept = () => undefined
  log = []
})

async function send(path: string, { key, brandId }: Partial<Tenant>, headers: Record<string, string> = {}) {
  const url = new URL(`/api/export/v1${path}`, service.url)
  if (brandId !== undefined) url.searchParams.set('brandId', brandId)
  return fetch(url, {
    headers: { 'User-Agent': randomUUID(), ...(key !== undefined && { 'X-API-Key': key }), ...headers },
  })
}

test('returns 503 with Retry-After at every endpoint while the database is away, and recovers', async () => {
  const its = await tenant(db)
  intercept = (asked) =>
    asked === 'neon' ? Promise.resolve(new Response('secret detail', { status: 502 })) : undefined
  for (const { path } of endpoints) {
    const response = await send(path, its)
    expect(response.status).toBe(503)
    expect(response.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(await response.json()).toEqual({ error: ERRORS.database[1] })
  }
  // What needs no database is answered as usual.
  expect((await send('/openapi.json', {})).status).toBe(200)
  expect((await send('/brands/', its)).status).toBe(404)
  expect((await send('/brands', {})).status).toBe(401)
  expect(log.join('\n')).not.toMatch(new RegExp(`${its.key}|${its.brandId}|secret detail`))
  intercept = () => undefined
  expect((await send('/visibility', its)).status).toBe(200)
})

test('serves requests without a rate budget while Redis is away, and logs it', async () => {
  const its = await tenant(db)
  intercept = (asked) =>
    asked === 'upstash' ? Promise.resolve(new Response('secret detail', { status: 502 })) : undefined
  const responses = await Promise.all([send('/visibility', its), send('/brands', its), send('/brands', {})])
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 401])
  for (const { headers } of responses) expect(headers.get('RateLimit')).toBeNull()
  await expect.poll(() => log.filter((line) => line.includes('rate_budget_unavailable')).length).toBe(3)
})

test('sends no statement for a malformed key', async () => {
  const its = await tenant(db)
  const before = service.subrequests().neon
  for (const key of ['', 'bad', its.key.toUpperCase(), `${its.key}0`, its.key.slice(0, -1)]) {
    for (const { path } of endpoints) expect((await send(path, { ...its, key })).status).toBe(401)
  }
  expect(service.subrequests().neon).toBe(before)
})

test('SESSION_COOKIE names the cookie that identifies a session', async () => {
  const left = async (cookie: string) => {
    const { headers } = await send('/openapi.json', {}, { Cookie: cookie })
    return /r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1]
  }
  const [named, other] = [randomUUID(), randomUUID()]
  expect([await left(`sid=${named}`), await left(`sid=${named}`)]).toEqual(['99', '98'])
  expect([await left(`session=${other}`), await left(`session=${other}`)]).toEqual(['99', '99'])
})
