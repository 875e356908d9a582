import { describe, expect, test, vi } from 'vitest'
import type { Result } from '../../lib/http/app.ts'
import { endpoint } from '../../lib/http/endpoint.ts'
import { type RateLimitOptions, rateLimitKey } from '../../lib/limits/rate-limit.ts'
import { httpError } from '../../lib/request/errors.ts'
import { loggedLines } from '../fixtures/log.ts'
import { bindings, counted, counterAnswers, silent } from '../mocks/upstash.ts'

const lines = loggedLines()

let clients = 0
const newClient = () => {
  clients += 1
  return `client-${clients}`
}

describe('the middleware', () => {
  const SERVED: Result = {
    body: '{}',
    headers: { Link: '</next>; rel="next"', 'X-Data-As-Of': '2026-10-01T04:31:07.123Z' },
    rows: 7,
    cacheable: true,
  }
  type Handler = () => Promise<Result>
  const fetchWith = (
    handler: Handler,
    { client = newClient(), rateLimit = {} }: { client?: string; rateLimit?: RateLimitOptions } = {},
  ) =>
    endpoint({ path: '/x', rateLimit, handler }).fetch(
      new Request('http://localhost/api/export/v1/x', { headers: { Authorization: client } }),
      bindings(),
    )
  const requestLine = () => lines.find(({ event }) => event === 'request')

  test.each<[string, Parameters<typeof counterAnswers>[0], string]>([
    ['counts in fractions', () => Response.json({ result: [1.5, 12, 100] }), 'TypeError'],
    ['counts with one number', () => Response.json({ result: [1] }), 'TypeError'],
    ['answers null', () => Response.json({ result: null }), 'TypeError'],
    ['answers text', () => Response.json({ result: 'many' }), 'TypeError'],
    ['answers 400', () => Response.json({ error: 'secret detail' }, { status: 400 }), 'UpstashError'],
    ['answers 500', () => Response.json({ error: 'secret detail' }, { status: 500 }), 'UpstashError'],
    ['cannot be reached', () => Promise.reject(new RangeError('secret detail')), 'RangeError'],
    ['throws a text', () => Promise.reject('secret detail'), 'string'],
    ['does not answer in time', silent, 'TimeoutError'],
  ])('serves the request with the policy alone when the counter %s', async (_, answer, error_name) => {
    const requests = counterAnswers(answer)
    const response = await fetchWith(async () => SERVED, { rateLimit: { timeoutMs: 20 } })
    expect([response.status, response.headers.get('RateLimit')]).toEqual([200, null])
    expect(response.headers.get('RateLimit-Policy')).toBe('"default";q=100;w=60')
    const request_id = response.headers.get('X-Request-Id')
    expect(lines[0]).toEqual({ event: 'rate_limit_unavailable', request_id, error_name })
    expect(lines).toHaveLength(2)
    expect(requests, 'no retry').toHaveLength(1)
  })

  test('sends neither telemetry nor sync tokens', async () => {
    const requests = counterAnswers(counted(1))
    await fetchWith(async () => SERVED)
    const names = [...new Headers(requests[0]?.headers).keys()]
    expect(names).toContain('authorization')
    expect(names.filter((name) => /^upstash-(sync|telemetry)/.test(name))).toEqual([])
  })

  test('runs the handler while it waits for the counter', async () => {
    const { promise: handled, resolve: onHandled } = Promise.withResolvers<void>()
    counterAnswers((init) => handled.then(() => counted(1)(init)))
    const handler = async () => {
      onHandled()
      return SERVED
    }
    expect((await fetchWith(handler)).status).toBe(200)
  })

  test('runs the handler after the counter when the order is first', async () => {
    const order: string[] = []
    counterAnswers((init) => {
      order.push('counter')
      return counted(1)(init)
    })
    const handler = async () => {
      order.push('handler')
      return SERVED
    }
    await fetchWith(handler, { rateLimit: { order: 'first' } })
    expect(order).toEqual(['counter', 'handler'])
  })

  test.each<[string, Handler]>([
    ['served', async () => SERVED],
    ['failed', () => Promise.reject(httpError('database', { 'Retry-After': '5', 'X-Own': '1' }))],
  ])('replaces a response that has %s by 429 without its headers', async (_, handler) => {
    counterAnswers((init) => new Promise((resolve) => setTimeout(() => resolve(counted(101)(init)), 20)))
    const { status, headers } = await fetchWith(handler)
    expect(status).toBe(429)
    expect([...headers.keys()].filter((name) => !name.startsWith('x-request-id'))).toEqual([
      'cache-control',
      'content-type',
      'ratelimit',
      'ratelimit-policy',
      'retry-after',
      'server-timing',
      'x-content-type-options',
    ])
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect(headers.get('RateLimit')).toMatch(/^"default";r=0;t=\d+$/)
    expect(headers.get('Retry-After')).toMatch(/^([3-9]|1[0-2])$/)
    expect(requestLine()).toMatchObject({ status: 429, rows: null })
  })

  test.each([
    ['an error', new TypeError('late')],
    ['a value that is no Error', 'late'],
  ])('returns 429 at once and ignores %s that the handler throws later', async (_, reason) => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    const { promise, reject } = Promise.withResolvers<Result>()
    counterAnswers(counted(101))
    expect((await fetchWith(() => promise)).status).toBe(429)
    reject(reason)
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(unhandled).not.toHaveBeenCalled()
    process.off('unhandledRejection', unhandled)
  })

  test('asks the counter before the handler for a client over its budget, and for no other client', async () => {
    const handler = vi.fn(async () => SERVED)
    const client = newClient()
    counterAnswers(counted(100))
    await fetchWith(handler, { client })
    counterAnswers(counted(101))
    await fetchWith(handler, { client })
    expect(handler, 'not over its budget yet').toHaveBeenCalledTimes(2)
    await fetchWith(handler, { client })
    expect(handler, 'over its budget').toHaveBeenCalledTimes(2)
    await fetchWith(handler)
    expect(handler, 'another client').toHaveBeenCalledTimes(3)
    counterAnswers(counted(1))
    expect((await fetchWith(handler, { client })).status, 'the counter decides').toBe(200)
    expect(handler).toHaveBeenCalledTimes(4)
  })
})

describe('rateLimitKey', () => {
  const keyOf = async (headers: Record<string, string>, env = bindings()) => {
    let key = ''
    const handler = async (context: Parameters<typeof rateLimitKey>[0]) => {
      key = await rateLimitKey(context)
      return { body: '', cacheable: false }
    }
    const request = new Request('http://localhost/api/export/v1/x', { headers })
    counterAnswers(counted(1))
    await endpoint({ path: '/x', handler }).fetch(request, env)
    return key
  }
  const KEY = `svc_live_${'0'.repeat(64)}`
  const ADDRESS = { 'CF-Connecting-IP': '203.0.113.7', 'User-Agent': 'agent' }

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['without address and User-Agent', {}, { 'CF-Connecting-IP': '', 'User-Agent': '' }],
    ['of one session', { ...ADDRESS, Cookie: 'a=b; session=1' }, { Cookie: 'session=1', Authorization: 'x' }],
    ['of one Authorization header', { ...ADDRESS, Authorization: 'x' }, { Authorization: 'x' }],
    ['with an empty session', ADDRESS, { ...ADDRESS, Cookie: 'session=' }],
    ['with other cookies', { ...ADDRESS, Cookie: 'theme=dark' }, ADDRESS],
    [
      'of one export key, however its scheme is spelled',
      { Authorization: `Bearer ${KEY}` },
      { Authorization: `bEARER   ${KEY}\t` },
    ],
    ['with other API keys', { ...ADDRESS, 'X-API-Key': 'a' }, { ...ADDRESS, 'X-API-Key': 'b' }],
    ['of one /64', { 'CF-Connecting-IP': '2001:db8::1' }, { 'CF-Connecting-IP': '2001:db8::2' }],
  ])('two requests %s share a key', async (_, one, other) => {
    expect(await keyOf(one)).toBe(await keyOf(other))
    expect(await keyOf(one)).toMatch(/^[0-9a-f]{64}$/)
  })

  test('session, Authorization, address and User-Agent each make another key', async () => {
    const keys = await Promise.all(
      [
        {},
        ADDRESS,
        { ...ADDRESS, 'User-Agent': 'other' },
        { ...ADDRESS, 'CF-Connecting-IP': '203.0.113.8' },
        { ...ADDRESS, Authorization: 'x' },
        { ...ADDRESS, Cookie: 'session=x' },
      ].map((headers) => keyOf(headers)),
    )
    expect(new Set(keys).size).toBe(6)
  })

  test('SESSION_COOKIE names the cookie of the session', async () => {
    const env = { ...bindings(), SESSION_COOKIE: 'sid' }
    expect(await keyOf({ Cookie: 'sid=1' }, env)).toBe(await keyOf({ Cookie: 'session=1' }))
    expect(await keyOf({ Cookie: 'session=1' }, env)).toBe(await keyOf({}))
  })
})
