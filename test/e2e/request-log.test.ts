import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readWranglerConfig } from '../../bundle/wrangler-config.ts'
import type { Emulator } from '../../emulator/start.ts'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { clearOfEnd, MINUTE } from '../support/clock.ts'
import { fillDaily } from '../support/daily.ts'
import { startOwnService } from '../support/own-service.ts'
import { type Tenant, tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'

const db = database()
const { workers } = await readWranglerConfig()
const paths = workers.flatMap(({ route }) => (route === undefined ? [] : [route.replaceAll('*', '')]))

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Line = Readonly<Record<string, unknown>>

let service: Emulator
let intercept: Intercept = () => undefined
let lines: Line[] = []

beforeAll(async () => {
  service = await startOwnService({
    intercept: (...asked) => intercept(...asked),
    onLog: (line) => lines.push(JSON.parse(line)),
  })
})

afterAll(() => service.close())

beforeEach(() => {
  intercept = () => undefined
  lines = []
})

type Sent = Partial<Tenant> & { headers?: Record<string, string>; method?: string }

async function send(path: string, { key, brandId, headers = {}, method = 'GET' }: Sent = {}) {
  const url = new URL(path.startsWith('/api') ? path : `/api/export/v1${path}`, service.url)
  if (brandId !== undefined) url.searchParams.set('brandId', brandId)
  return fetch(url, {
    method,
    headers: { 'User-Agent': randomUUID(), ...(key !== undefined && { 'X-API-Key': key }), ...headers },
  })
}

/** Sends a request and gives its answer with its one line. */
async function logged(path: string, sent: Sent = {}): Promise<{ answer: Response; line: Line }> {
  const id = randomUUID()
  const answer = await send(path, { ...sent, headers: { 'X-Request-Id': id, ...sent.headers } })
  await answer.arrayBuffer()
  await expect.poll(() => requests().filter(({ request_id }) => request_id === id)).toHaveLength(1)
  const [line = {}] = requests().filter(({ request_id }) => request_id === id)
  return { answer, line }
}

const requests = () => lines.filter(({ event }) => event === 'request')

const NOTHING = { key_id: null, organization_id: null, rows: null }

describe('the line of a request', () => {
  test('names the key, the endpoint and the cost', async () => {
    const its = await tenant(db)
    await fillDaily(db, { name: 'citations', brandId: its.brandId, rows: 7, first: '2026-10-01', days: 1 })
    await logged('/brands', its)
    const { line } = await logged('/citations?fromDate=2026-10-01&toDate=2026-10-01', its)
    expect(line).toEqual({
      event: 'request',
      request_id: expect.stringMatching(UUID),
      key_id: its.keyId,
      organization_id: its.org.id,
      endpoint: '/citations',
      status: 200,
      rows: 7,
      ms: expect.any(Number),
      subrequests: { neon: 1, upstash: 1 },
    })
    expect(Number.isInteger(line.ms) && Number(line.ms) >= 0).toBe(true)
  })

  test('counts the rows of a listing, and of a 304', async () => {
    const its = await tenant(db)
    const { answer, line } = await logged('/brands', its)
    expect(line).toMatchObject({ endpoint: '/brands', status: 200, rows: 1 })
    const headers = { 'If-None-Match': answer.headers.get('ETag') ?? '' }
    expect((await logged('/brands', { ...its, headers })).line).toMatchObject({ status: 304, rows: 1 })
    expect((await logged('/brands', { ...its, method: 'HEAD' })).line).toMatchObject({ status: 200, rows: 1 })
  })

  test('is written for every error, with what was known by then', async () => {
    const [its, lite] = [await tenant(db), await tenant(db, { plan: 'lite' })]
    const { key, keyId: key_id } = its
    const known = { key_id, organization_id: its.org.id, rows: null }
    const endpoint = '/visibility'
    const line = async (path: string, sent: Sent = {}) => (await logged(path, sent)).line
    expect(await line(`${endpoint}/`, its)).toMatchObject({ ...NOTHING, status: 404, endpoint: null })
    expect(await line(endpoint, { method: 'POST' })).toMatchObject({ ...NOTHING, status: 405, endpoint })
    expect(await line(endpoint)).toMatchObject({ ...NOTHING, status: 401, endpoint })
    expect(await line(endpoint, lite)).toMatchObject({
      key_id: lite.keyId,
      organization_id: lite.org.id,
      rows: null,
      status: 403,
    })
    expect(await line(endpoint, { key })).toMatchObject({ ...known, status: 400, endpoint })
    const foreign = { key, brandId: lite.brandId }
    expect(await line(endpoint, foreign)).toMatchObject({ ...known, status: 404, endpoint })
  })

  test('is written for an unknown path, without the path', async () => {
    const { line } = await logged('/api/export/v1/svc_live_nothing')
    expect(line).toMatchObject({
      ...NOTHING,
      endpoint: null,
      status: 404,
      subrequests: { neon: 0, upstash: 0 },
    })
  })

  test('is written for a client over its budget', async () => {
    await clearOfEnd(MINUTE, 5_000)
    const Cookie = `session=${randomUUID()}`
    await Promise.all(Array.from({ length: 105 }, () => send('/openapi.json', { headers: { Cookie } })))
    const { line } = await logged('/openapi.json', { headers: { Cookie } })
    expect(line).toMatchObject({ ...NOTHING, status: 429, endpoint: '/openapi.json' })
    expect(line.subrequests).toEqual({ neon: 0, upstash: 1 })
  })

  test('shares its id with the lines of failures during the request', async () => {
    const its = await tenant(db)
    intercept = () => Promise.resolve(new Response('away', { status: 502 }))
    const { line } = await logged('/visibility', its)
    expect(line).toMatchObject({ ...NOTHING, status: 503, subrequests: { neon: 1, upstash: 1 } })
    const failures = lines.filter(({ event }) => event !== 'request')
    expect(failures.map(({ event }) => event).sort()).toEqual(['database_error', 'rate_budget_unavailable'])
    for (const { request_id } of failures) expect(request_id).toBe(line.request_id)
  })
})

describe('X-Request-Id', () => {
  test('is the client’s own when it is well-formed', async () => {
    for (const id of ['a', 'job-42_run.7', '0'.repeat(64), randomUUID()]) {
      expect((await send('/brands', { headers: { 'X-Request-Id': id } })).headers.get('X-Request-Id')).toBe(
        id,
      )
    }
  })

  test('is generated otherwise', async () => {
    const seen = new Set<string | null>()
    for (const id of ['', ' ', 'a b', '0'.repeat(65), 'a;b', '"a"', '{}', 'ä', '<a>', 'a,b']) {
      const { headers } = await send('/brands', { headers: { 'X-Request-Id': id } })
      expect(headers.get('X-Request-Id'), id).toMatch(UUID)
      seen.add(headers.get('X-Request-Id'))
    }
    expect(seen.size).toBe(10)
  })

  test('is the CF-Ray when the client sends none', async () => {
    const ray = { 'CF-Ray': '8e6f1c2d3b4a5968-PRG' }
    expect((await send('/brands', { headers: ray })).headers.get('X-Request-Id')).toBe(ray['CF-Ray'])
    const both = { ...ray, 'X-Request-Id': 'mine' }
    expect((await send('/brands', { headers: both })).headers.get('X-Request-Id')).toBe('mine')
  })

  test('is on every response of every Worker', async () => {
    const its = await tenant(db)
    for (const path of paths) {
      const answers = [
        send(path, its),
        send(path),
        send(path, { ...its, method: 'HEAD' }),
        send(path, { ...its, method: 'DELETE' }),
        send(`${path}/nothing`, its),
      ]
      for (const { headers } of await Promise.all(answers)) {
        expect(headers.get('X-Request-Id'), path).toMatch(UUID)
      }
    }
    intercept = () => Promise.resolve(new Response('away', { status: 502 }))
    for (const path of paths) expect((await send(path, its)).headers.get('X-Request-Id')).toMatch(UUID)
  })
})

describe('Server-Timing', () => {
  const timing = (answer: Response) =>
    [...(answer.headers.get('Server-Timing') ?? '').matchAll(/(?:^|, )(\w+);dur=(\d+)/g)]
      .map(([, name]) => name)
      .sort()

  test('reports the time of the database and of the budget', async () => {
    const its = await tenant(db)
    intercept = (asked) =>
      new Promise((resolve) => setTimeout(resolve, asked === 'neon' ? 120 : 40)).then(
        () => new Response('', { status: 502 }),
      )
    const answer = await send('/visibility', its)
    const [, ms = ''] = /db;dur=(\d+)/.exec(answer.headers.get('Server-Timing') ?? '') ?? []
    expect(Number(ms)).toBeGreaterThanOrEqual(110)
    expect(timing(answer)).toEqual(['budget', 'db'])
  })

  test('leaves out servers that received no request', async () => {
    const its = await tenant(db)
    expect(timing(await send('/visibility', its))).toEqual(['budget', 'db'])
    expect(timing(await send('/visibility', { key: its.key }))).toEqual(['budget', 'db'])
    expect(timing(await send('/visibility'))).toEqual(['budget'])
    expect(timing(await send('/openapi.json'))).toEqual(['budget'])
    expect((await send('/visibility/')).headers.get('Server-Timing')).toBeNull()
  })
})
