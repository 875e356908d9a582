import { describe, expect, test, vi } from 'vitest'
import { upstash } from '../../emulator/upstash/handler.ts'
import { embeddedRedis } from '../../emulator/upstash/redis.ts'
import type { Result } from '../../lib/app.ts'
import { endpoint } from '../../lib/endpoint.ts'
import { parseEnv } from '../../lib/env.ts'
import { httpError } from '../../lib/errors.ts'
import { consume, createLimiter, type RateLimitOptions, rateLimitKey } from '../../lib/rate-limit.ts'
import { emptyLog, loggedLines } from '../fixtures/log.ts'
import { bindings, counted, counterAnswers, silent } from '../mocks/upstash.ts'

const lines = loggedLines()

let clients = 0
const newClient = () => {
  clients += 1
  return `client-${clients}`
}

const limiterOf = createLimiter(5000)
const consumeOne = (now = new Date()) =>
  consume({
    client: newClient(),
    request: 'a-request',
    limiter: limiterOf(parseEnv(bindings())),
    now,
    log: emptyLog(),
  })

describe('consume', () => {
  test.each([
    [1, true, 99],
    [100, true, 0],
    [101, false, 0],
    [130, false, 0],
  ])('request %i of a bucket: allowed %s, remaining %i', async (requests, allowed, remaining) => {
    counterAnswers(counted(requests))
    expect(await consumeOne()).toMatchObject({ allowed, remaining })
    expect(lines).toEqual([])
  })

  test.each([
    ['2020-01-01', 12],
    ['2999-01-01', 1],
  ])('refills in 1 to 12 seconds even when the clock says %s', async (now, refillSeconds) => {
    counterAnswers(counted(1))
    expect(await consumeOne(new Date(now))).toMatchObject({ refillSeconds })
  })

  test('lets 100 of 130 pass at once, then 20 more every 12 seconds from the first request on', async () => {
    const redis = embeddedRedis()
    const handle = upstash(redis, bindings().UPSTASH_REDIS_REST_TOKEN)
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => handle(new Request(url, init)))
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const client = newClient()
      const denied: string[] = []
      // Without a timeout: a busy machine takes seconds to run 130 scripts.
      const limiter = createLimiter(0)(parseEnv(bindings()))
      const start = Date.parse('2026-11-22T10:00:07.250Z')
      const burst = async (requests: number, seconds: number) => {
        vi.setSystemTime(start + seconds * 1000)
        const log = emptyLog()
        const consumeNow = async () => {
          const request = denied.shift() ?? crypto.randomUUID()
          const budget = await consume({ client, request, limiter, now: new Date(), log })
          if (budget?.allowed === false) denied.push(request)
          return budget
        }
        const budgets = await Promise.all(Array.from({ length: requests }, consumeNow))
        const allowed = budgets.filter((budget) => budget?.allowed).length
        return [allowed, [...new Set(budgets.map((budget) => budget?.refillSeconds))]]
      }
      expect(await burst(130, 0)).toEqual([100, [12]])
      expect(await burst(1, 11.999)).toEqual([0, [1]])
      expect(await burst(30, 12)).toEqual([20, [12]])
      expect(await burst(50, 40.5), 'two refills').toEqual([40, [8]])
      expect(await burst(130, 600), 'never above 100').toEqual([100, [12]])
      expect(lines).toEqual([])
    } finally {
      vi.useRealTimers()
      redis.close()
    }
  })

  test.each<[string, Parameters<typeof counterAnswers>[0], string]>([
    ['has another limit', counted(1, 50), 'TypeError'],
    ['counts in fractions', counted(1.5), 'TypeError'],
    ['answers null', () => Response.json({ result: null }), 'TypeError'],
    ['answers text', () => Response.json({ result: 'many' }), 'TypeError'],
    ['answers 400', () => Response.json({ error: 'secret detail' }, { status: 400 }), 'UpstashError'],
    ['answers 500', () => Response.json({ error: 'secret detail' }, { status: 500 }), 'UpstashError'],
    ['cannot be reached', () => Promise.reject(new RangeError('secret detail')), 'RangeError'],
    ['throws a text', () => Promise.reject('secret detail'), 'string'],
  ])('returns null and logs one line when the counter %s', async (_, answer, error_name) => {
    const requests = counterAnswers(answer)
    expect(await consumeOne()).toBeNull()
    expect(lines).toEqual([{ event: 'rate_budget_unavailable', request_id: 'a-request', error_name }])
    expect(requests, 'no retry').toHaveLength(1)
  })

  test('returns null when the counter does not answer within 5 seconds', async () => {
    vi.useFakeTimers()
    try {
      counterAnswers(silent)
      const settled = vi.fn()
      const budget = consumeOne().finally(settled)
      await vi.advanceTimersByTimeAsync(4999)
      expect(settled).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(1)
      expect(await budget).toBeNull()
      expect(lines).toMatchObject([{ event: 'rate_budget_unavailable', error_name: 'timeout' }])
    } finally {
      vi.useRealTimers()
    }
  })

  test('sends neither telemetry nor sync tokens', async () => {
    const requests = counterAnswers(counted(1))
    await consumeOne()
    const names = [...new Headers(requests[0]?.headers).keys()]
    expect(names).toContain('authorization')
    expect(names.filter((name) => /^upstash-(sync|telemetry)/.test(name))).toEqual([])
  })
})

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

  test('adds the budget to a response and to an error', async () => {
    counterAnswers(counted(1))
    for (const [handler, status] of [
      [async () => SERVED, 200],
      [() => Promise.reject(httpError('key')), 401],
    ] as const) {
      const response = await fetchWith(handler)
      expect(response.status).toBe(status)
      expect(response.headers.get('RateLimit-Policy')).toBe('"default";q=100;w=60')
      expect(response.headers.get('RateLimit')).toMatch(/^"default";r=99;t=\d+$/)
    }
  })

  test('serves the request with the policy alone when the counter fails', async () => {
    counterAnswers(() => Response.json({ error: 'away' }, { status: 500 }))
    const response = await fetchWith(async () => SERVED)
    expect([response.status, response.headers.get('RateLimit')]).toEqual([200, null])
    expect(response.headers.get('RateLimit-Policy')).toBe('"default";q=100;w=60')
    expect(lines.map(({ event }) => event)).toEqual(['rate_budget_unavailable', 'request'])
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
    expect(headers.get('Retry-After')).toBe('12')
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
  const ADDRESS = { 'CF-Connecting-IP': '203.0.113.7', 'User-Agent': 'agent' }

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['without address and User-Agent', {}, { 'CF-Connecting-IP': '', 'User-Agent': '' }],
    ['of one session', { ...ADDRESS, Cookie: 'a=b; session=1' }, { Cookie: 'session=1', Authorization: 'x' }],
    ['of one Authorization header', { ...ADDRESS, Authorization: 'x' }, { Authorization: 'x' }],
    ['with an empty session', ADDRESS, { ...ADDRESS, Cookie: 'session=' }],
    ['with other cookies', { ...ADDRESS, Cookie: 'theme=dark' }, ADDRESS],
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
