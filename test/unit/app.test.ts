import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { requireKeyHash } from '../../lib/access/access.ts'
import type { Result } from '../../lib/http/app.ts'
import { encodeWithEtag } from '../../lib/http/app.ts'
import { type Endpoint, endpoint } from '../../lib/http/endpoint.ts'
import { site } from '../../lib/http/site.ts'
import type { RequestContext } from '../../lib/request/context.ts'
import { EnvironmentError } from '../../lib/request/env.ts'
import { httpError } from '../../lib/request/errors.ts'
import { timed } from '../../lib/request/request-log.ts'
import { loggedLines } from '../fixtures/log.ts'
import { bindings, counted, counterAnswers } from '../mocks/upstash.ts'

const lines = loggedLines()

const RESULT: Result = { body: '{}', cacheable: false }
const SERVICE = 'http://localhost/api/export/v1'

type Sent = Partial<Endpoint> & { url?: string; method?: string; sent?: Record<string, string>; env?: object }

beforeEach(() => void counterAnswers(counted(1)))

/** The response of an endpoint at /x. */
const respond = ({ url = `${SERVICE}/x`, method = 'GET', sent = {}, env = bindings(), ...own }: Sent) =>
  endpoint({ path: '/x', handler: async () => RESULT, ...own }).fetch(
    new Request(url, { method, headers: { 'X-Request-Id': 'mine', ...sent } }),
    env,
  )
const failWith = (error: unknown) => respond({ handler: () => Promise.reject(error) })

describe('a result', () => {
  test('is private JSON that clients revalidate, unless it has other headers, and without a body for HEAD', async () => {
    for (const [method, body] of Object.entries({ GET: '{}', HEAD: '' })) {
      const response = await respond({ method })
      const { status, headers } = response
      expect([status, await response.text(), headers.get('ETag')]).toEqual([200, body, null])
      expect(headers.get('Content-Type')).toBe('application/json')
      expect(headers.get('Cache-Control')).toBe('private, no-cache')
    }
    const handler = async () => ({ ...RESULT, headers: { 'Cache-Control': 'public' } })
    expect((await respond({ handler })).headers.get('Cache-Control')).toBe('public')
  })

  test('has an ETag when it is cacheable, and is 304 without a body when the client has it', async () => {
    const { etag } = await encodeWithEtag('{}')
    const handler = async () => ({ ...RESULT, rows: 7, cacheable: true })
    for (const [ifNoneMatch, status, body] of [
      ['"other"', 200, '{}'],
      [etag, 304, ''],
    ] as const) {
      const response = await respond({ handler, sent: { 'If-None-Match': ifNoneMatch } })
      expect([response.status, await response.text(), response.headers.get('ETag')]).toEqual([
        status,
        body,
        etag,
      ])
    }
    expect(lines).toMatchObject([
      { status: 200, rows: 7 },
      { status: 304, rows: 7 },
    ])
    expect((await respond({ sent: { 'If-None-Match': '*' } })).status, 'not cacheable').toBe(200)
  })

  test('reports the waits in Server-Timing and in its log line', async () => {
    const { headers } = await respond({
      handler: async ({ var: { log } }) => {
        await timed(log, 'neon', () => delay(30))
        return RESULT
      },
    })
    const waited = Number(/\bdb;dur=(\d+)$/.exec(headers.get('Server-Timing') ?? '')?.[1])
    expect(waited).toBeGreaterThanOrEqual(29)
    expect(headers.get('X-Request-Id')).toBe('mine')
    expect(lines).toMatchObject([
      { event: 'request', request_id: 'mine', endpoint: '/x', subrequests: { neon: 1, upstash: 1 } },
    ])
    expect(Number(lines[0]?.ms)).toBeGreaterThanOrEqual(waited)
  })
})

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe('X-Request-Id', () => {
  const idOf = async (sent: Record<string, string>) => (await respond({ sent })).headers.get('X-Request-Id')

  test('is the client’s own when it is well-formed, and generated otherwise', async () => {
    for (const id of ['a', 'job-42_run.7', '0'.repeat(64)])
      expect(await idOf({ 'X-Request-Id': id })).toBe(id)
    const others = ['', ' ', 'a b', '0'.repeat(65), 'a;b', '"a"', '{}', 'ä', '<a>', 'a,b']
    const ids = await Promise.all(others.map((id) => idOf({ 'X-Request-Id': id })))
    for (const id of ids) expect(id).toMatch(UUID)
    expect(new Set(ids).size).toBe(others.length)
  })

  test('is the CF-Ray when the client sends none', async () => {
    const ray = { 'CF-Ray': '8e6f1c2d3b4a5968-PRG' }
    expect(await idOf({ ...ray, 'X-Request-Id': '' })).toBe(ray['CF-Ray'])
    expect(await idOf({ ...ray, 'X-Request-Id': 'mine' })).toBe('mine')
  })
})

test('hashes the key of X-API-Key with SHA-256, logs 16 digits of it, and returns 401 for any other form', async () => {
  const key = `svc_live_${'0'.repeat(64)}`
  const handler = async (context: RequestContext) => ({ ...RESULT, body: requireKeyHash(context) })
  const valid = await respond({ handler, sent: { 'X-API-Key': key } })
  expect(await valid.text()).toBe('5d87f6486d646f95b56a980411d3599af14606bfa33406aac53b0fde605f680d')
  const others = [{}, { 'X-API-Key': '' }, { 'X-API-Key': 'svc_live_0' }, { Authorization: `Bearer ${key}` }]
  for (const sent of others) expect((await respond({ handler, sent })).status).toBe(401)
  expect(lines.map(({ key_hash }) => key_hash)).toEqual(['5d87f6486d646f95', ...others.map(() => null)])
})

test('the line has the traceparent of the client when it is well-formed', async () => {
  const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  const valid = `00-${trace}-${span}-01`
  const others = [
    '',
    `01-${trace}-${span}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `${valid}-more`,
    `${valid}, ${valid}`,
    '<script>',
  ]
  for (const traceparent of [valid, ...others]) await respond({ sent: { traceparent } })
  await respond({})
  expect(lines[0]).toMatchObject({ traceparent: valid })
  expect(lines).toHaveLength(others.length + 2)
  for (const line of lines.slice(1)) expect(line).not.toHaveProperty('traceparent')
})

describe('routing', () => {
  test.each(['/x/', '/X', '/%78', '/x%2F', '/xx', '//x', '/x/y', '/'])('returns 404 for %s', async (path) => {
    for (const method of ['GET', 'HEAD', 'POST']) {
      const { status, headers } = await respond({ url: SERVICE + path, method })
      expect([status, headers.get('Allow')]).toEqual([404, null])
    }
    expect(lines[0]).toMatchObject({ event: 'request', endpoint: null, status: 404 })
  })

  test.each([
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
  ])('returns 405 with Allow for %s', async (method) => {
    const { status, headers } = await respond({ method, env: {} })
    expect([status, headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
    expect(lines).toMatchObject([{ event: 'request', endpoint: '/x', status: 405 }])
  })

  test('a site returns 404 for names that every object has', async () => {
    const files = async () => ({ '': { type: 'text/html', body: 'page', immutable: false } })
    const { fetch } = site({ path: '/docs', files })
    expect((await fetch(new Request(`${SERVICE}/docs`), {})).status).toBe(200)
    for (const name of ['toString', 'constructor', '__proto__']) {
      expect((await fetch(new Request(`${SERVICE}/docs${name}`), {})).status, name).toBe(404)
    }
  })
})

describe('an error', () => {
  test('of the catalogue is sent with its headers, and is not logged', async () => {
    const response = await respond({
      handler: () => Promise.reject(httpError('database', { 'Retry-After': '5' })),
    })
    expect(response.status).toBe(503)
    expect(await response.json()).toEqual({ error: 'Temporarily unavailable. Retry the request.' })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'retry-after': '5',
    })
    expect(lines).toMatchObject([{ event: 'request', status: 503, rows: null }])
  })

  test('that is unexpected is a 500; its name and stack are logged, its message is not', async () => {
    const error = new TypeError('svc_live_secret\n    at most a secret')
    error.stack = `TypeError: svc_live_secret\nat a secret\n    at answer (worker.js:1:2)\n at pass (worker.js:3:4)`
    const response = await failWith(error)
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({
      error: 'Internal error. Retry the request; if it still fails, report the X-Request-Id.',
    })
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(lines[0]).toEqual({
      event: 'unhandled_error',
      request_id: 'mine',
      error_name: 'TypeError',
      stack: ['    at answer (worker.js:1:2)', ' at pass (worker.js:3:4)'],
    })
    expect(lines.slice(1)).toMatchObject([{ event: 'request', status: 500 }])
  })

  test.each(['a secret text', null, undefined])('may be no Error, as %j', async (thrown) => {
    expect((await failWith(thrown)).status).toBe(500)
    expect(lines).toMatchObject([{ event: 'unhandled_error' }, { event: 'request', status: 500 }])
    expect(JSON.stringify(lines)).not.toContain('secret')
  })

  test('of the environment is logged with its message, which quotes no value', async () => {
    expect((await failWith(new EnvironmentError('CURSOR_SECRET is missing'))).status).toBe(500)
    expect(lines[0]).toMatchObject({ event: 'unhandled_error', message: 'CURSOR_SECRET is missing' })
  })
})
