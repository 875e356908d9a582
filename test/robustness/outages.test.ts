import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Emulator } from '../../emulator/start.ts'
import { BINDINGS } from '../../emulator/workers/bindings.ts'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { type CursorBinding, signCursor, verifyCursor } from '../../lib/cursor.ts'
import { fillDaily } from '../support/daily.ts'
import { findEndpoints } from '../support/endpoints.ts'
import { startOwnService } from '../support/own-service.ts'
import { type Tenant, tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'

const db = database()
const endpoints = await findEndpoints()

const CURRENT = 'the-current-secret-of-tests'
const PREVIOUS = 'the-previous-secret-of-tests'

let service: Emulator
let intercept: Intercept = () => undefined
let log: string[] = []

// A service of its own over the same database, with faults where a test wants them.
beforeAll(async () => {
  service = await startOwnService({
    vars: { CURSOR_SECRET: CURRENT, CURSOR_SECRET_PREVIOUS: PREVIOUS, SESSION_COOKIE: 'sid' },
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

describe('a database that', () => {
  async function expectUnavailable(response: Response, { key, brandId }: Tenant): Promise<void> {
    expect(response.status).toBe(503)
    expect(response.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    const text = await response.text()
    expect(Object.keys(JSON.parse(text))).toEqual(['error'])
    expect(text).not.toMatch(/select|neon|postgres|secret detail|\bat .+:\d/i)
    expect(log.join('\n')).not.toContain(key)
    expect(log.join('\n')).not.toContain(brandId)
  }

  const faults: Readonly<Record<string, () => Promise<Response>>> = {
    'cannot be reached': () =>
      Promise.resolve(new Response('connection refused: secret detail', { status: 502 })),
    'refuses the statement': () =>
      Promise.resolve(Response.json({ message: 'select secret detail', code: '57P03' }, { status: 400 })),
    'is cut off in the middle of its answer': () =>
      Promise.resolve(new Response('{"fields":[],"rows":[["[\\"secret detail', { status: 200 })),
    'answers something else': () => Promise.resolve(Response.json({ rows: 'secret detail' })),
    'answers with nothing': () => Promise.resolve(new Response('', { status: 200 })),
  }

  test.each(Object.entries(faults))('%s is 503 with Retry-After at every endpoint', async (_, fault) => {
    const its = await tenant(db)
    intercept = (asked) => (asked === 'neon' ? fault() : undefined)
    for (const { path } of endpoints) await expectUnavailable(await send(path, its), its)
    intercept = () => undefined
    expect((await send('/visibility', its)).status).toBe(200)
  })

  test('is silent is 503 after 8 seconds, for a page, the listing and a malformed request alike', async () => {
    const its = await tenant(db)
    intercept = (asked, { signal }) =>
      asked === 'neon' ? delay(20_000, new Response(), { signal, ref: false }) : undefined
    const sent = [send('/visibility', its), send('/brands', its), send('/sentiment', { key: its.key })]
    for (const response of await Promise.all(sent)) await expectUnavailable(response, its)
  }, 15_000)

  test('is away does not keep the earlier gates and the description from answering', async () => {
    const its = await tenant(db)
    intercept = (asked) => (asked === 'neon' ? Promise.resolve(new Response('', { status: 500 })) : undefined)
    expect((await send('/openapi.json', {})).status).toBe(200)
    expect((await send('/brands/', its)).status).toBe(404)
    expect((await send('/brands', {})).status).toBe(401)
  })
})

describe('a counter that', () => {
  const faults: Readonly<Record<string, () => Promise<Response>>> = {
    'cannot be reached': () => Promise.resolve(new Response('away', { status: 502 })),
    'answers with an error': () =>
      Promise.resolve(Response.json({ error: 'ERR quota exceeded' }, { status: 400 })),
    'answers something else': () => Promise.resolve(new Response('<html>', { status: 200 })),
    'is silent': () => delay(20_000, new Response(), { ref: false }),
  }

  test.each(Object.entries(faults))('%s costs nobody an answer, and a log line says so', async (_, fault) => {
    const its = await tenant(db)
    intercept = (asked) => (asked === 'upstash' ? fault() : undefined)
    const responses = await Promise.all([send('/visibility', its), send('/brands', its), send('/brands', {})])
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 401])
    for (const { headers } of responses) expect(headers.get('RateLimit')).toBeNull()
    await expect.poll(() => log.filter((line) => line.includes('rate_budget_unavailable')).length).toBe(3)
  })
})

test('a counter that is slow is waited for while it is trusted: until somebody has found it silent', async () => {
  const counted = async () => (await send('/openapi.json', {})).headers.has('RateLimit')
  const slow =
    (ms: number): Intercept =>
    async (asked, _request, genuine) => {
      if (asked !== 'upstash') return undefined
      const response = await genuine()
      await delay(ms, undefined, { ref: false })
      return response
    }
  expect(await counted()).toBe(true)
  intercept = slow(1_500)
  expect(await counted()).toBe(true)
  intercept = slow(20_000)
  expect(await counted()).toBe(false)
  intercept = slow(1_500)
  expect(await counted()).toBe(false)
  intercept = () => undefined
  expect(await counted()).toBe(true)
  intercept = slow(1_500)
  expect(await counted()).toBe(true)
})

describe('what a Worker asks its servers', () => {
  test('holds no key, cookie, token, address or User-Agent in readable form', async () => {
    const its = await tenant(db)
    const secrets = {
      'CF-Connecting-IP': '203.0.113.77',
      'User-Agent': `agent-${randomUUID()}`,
      Cookie: `sid=cookie-${randomUUID()}`,
      Authorization: `Bearer token-${randomUUID()}`,
    }
    const asked: string[] = []
    intercept = (_, request) => {
      const copy = request.clone()
      const heard = async () =>
        asked.push(`${copy.url} ${JSON.stringify([...copy.headers])} ${await copy.text()}`)
      pending.push(heard())
      return undefined
    }
    const pending: Promise<unknown>[] = []
    const { Cookie, Authorization, ...network } = secrets
    for (const headers of [network, { ...network, Cookie }, { ...network, Authorization }]) {
      expect((await send('/visibility', its, headers)).status).toBe(200)
    }
    await Promise.all(pending)
    const all = asked.join('\n')
    expect(asked).toHaveLength(6)
    for (const secret of [its.key, its.key.slice(9), ...Object.values(network), 'cookie-', 'token-']) {
      expect(all).not.toContain(secret)
      expect(all).not.toContain(Buffer.from(secret).toString('base64').slice(0, 12))
    }
  })

  test('is one statement and one count for a page', async () => {
    const its = await tenant(db)
    const before = service.subrequests()
    expect((await send('/visibility', its)).status).toBe(200)
    expect(service.subrequests()).toEqual({ neon: before.neon + 1, upstash: before.upstash + 1 })
  })

  test('does not include a statement for a key of another form', async () => {
    const its = await tenant(db)
    const before = service.subrequests().neon
    for (const key of ['', 'bad', its.key.toUpperCase(), `${its.key}0`, its.key.slice(0, -1)]) {
      for (const { path } of endpoints) expect((await send(path, { ...its, key })).status).toBe(401)
    }
    expect(service.subrequests().neon).toBe(before)
  })
})

describe('what the Workers are configured with', () => {
  test('a cursor of the previous secret is taken, and the next one is of the current secret', async () => {
    const its = await tenant(db)
    await fillDaily(db, { name: 'citations', brandId: its.brandId, rows: 2001, first: '2026-10-01', days: 1 })
    const binding: CursorBinding = { endpoint: '/citations', brandId: its.brandId }
    const window = { first: '2026-10-01', last: '2026-10-01', end: '2026-10-01T23:59:59.999Z' }
    const position = { window, after: ['2026-09-30', randomUUID()] }
    const read = (cursor: string) => send(`/citations?cursor=${cursor}`, its)

    const first = await read(await signCursor(position, binding, [PREVIOUS]))
    expect(first.status).toBe(200)
    const { pagination } = JSON.parse(await first.text())
    expect(await verifyCursor(pagination.nextCursor, binding, [PREVIOUS])).toBeNull()
    expect(await verifyCursor(pagination.nextCursor, binding, [CURRENT])).toMatchObject({ window })
    expect((await read(pagination.nextCursor)).status).toBe(200)
    expect((await read(await signCursor(position, binding, [BINDINGS.CURSOR_SECRET]))).status).toBe(400)
  })

  test('the session cookie is the one that is named', async () => {
    const left = async (cookie: string) => {
      const { headers } = await send('/openapi.json', {}, { Cookie: cookie })
      return /r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1]
    }
    const [named, other] = [randomUUID(), randomUUID()]
    expect([await left(`sid=${named}`), await left(`sid=${named}`)]).toEqual(['99', '98'])
    expect([await left(`session=${other}`), await left(`session=${other}`)]).toEqual(['99', '99'])
  })
})
