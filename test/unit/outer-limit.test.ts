import { beforeEach, describe, expect, test, vi } from 'vitest'
import { requireKeyHash } from '../../lib/access/authorize.ts'
import type { RequestContext } from '../../lib/context.ts'
import { endpoint } from '../../lib/endpoint.ts'
import { httpError } from '../../lib/errors.ts'
import { sha256 } from '../../lib/hash.ts'
import { share } from '../../lib/share/share.ts'
import { loggedLines } from '../fixtures/log.ts'
import { bindings, counted, counterAnswers } from '../mocks/upstash.ts'

const lines = loggedLines()

const KEY = `svc_live_${'0'.repeat(64)}`
const KEY_HASH = '5d87f6486d646f95b56a980411d3599af14606bfa33406aac53b0fde605f680d'
const URL_OF_X = 'http://localhost/api/export/v1/x'
const SHARES = 'http://localhost/api/sharing/v1/shares'

/** Bindings whose limiter says no for some keys, and the keys that it was asked for. */
function limited(isOver: (key: string) => boolean = () => false) {
  const asked: string[] = []
  const limit = async ({ key }: { key: string }) => {
    asked.push(key)
    return { success: !isOver(key) }
  }
  return { asked, env: { ...bindings(), OUTER_LIMITER: { limit } } }
}

let handled = 0
const { fetch: fetchX } = endpoint({
  path: '/x',
  handler: async () => {
    handled += 1
    return { body: '{}', cacheable: false }
  },
})

type Headers = Record<string, string>

const request = (headers: Headers = {}, url = URL_OF_X, method = 'GET') =>
  new Request(url, { method, headers })

describe('the outer limit', () => {
  let redis: RequestInit[]
  beforeEach(() => {
    redis = counterAnswers(counted(1))
    handled = 0
  })

  test.each<[string, Headers, string[]]>([
    ['no key', {}, ['address 203.0.113.7']],
    ['a key of another form', { 'X-API-Key': 'svc_live_0' }, ['address 203.0.113.7']],
    ['a key', { 'X-API-Key': ` ${KEY}` }, ['address 203.0.113.7', `key ${KEY_HASH}`]],
    ['an IPv6 address', { 'CF-Connecting-IP': '2001:db8:1:2:3::4' }, ['address 2001:db8:1:2']],
  ])('of a request with %s counts %j as %j', async (_, headers, keys) => {
    const { asked, env } = limited()
    expect((await fetchX(request({ 'CF-Connecting-IP': '203.0.113.7', ...headers }), env)).status).toBe(200)
    expect(asked).toEqual(keys)
  })

  test('of the share counts the key that comes as a bearer token', async () => {
    const { asked, env } = limited(() => true)
    const response = await share().fetch(request({ Authorization: `bearer  ${KEY}` }, SHARES), env)
    expect(asked).toEqual(['address ', `key ${KEY_HASH}`])
    expect([response.status, await response.json()]).toEqual([
      429,
      { errorCode: 'RESOURCE_EXHAUSTED', message: httpError('outerLimit').message },
    ])
  })

  test.each([
    'address',
    'key',
  ])('answers 429 before Redis and the handler when the %s is over it', async (over) => {
    const { env } = limited((key) => key.startsWith(over))
    const response = await fetchX(request({ 'X-API-Key': KEY }), env)
    expect([response.status, response.headers.get('Retry-After')]).toEqual([429, '60'])
    expect(await response.json()).toEqual({ error: httpError('outerLimit').message })
    expect([redis, handled]).toEqual([[], 0])
    expect(lines).toMatchObject([{ event: 'request', status: 429, subrequests: { neon: 0, upstash: 0 } }])
  })

  test('comes after the path and the method', async () => {
    const { asked, env } = limited(() => true)
    expect((await fetchX(request({}, `${URL_OF_X}/unknown`), env)).status).toBe(404)
    expect((await fetchX(request({}, URL_OF_X, 'POST'), env)).status).toBe(405)
    expect(asked).toEqual([])
  })

  test('is logged once when its binding is missing, and requests are served', async () => {
    const { OUTER_LIMITER: _, ...env } = bindings()
    for (const _ of [1, 2]) expect((await fetchX(request(), env)).status).toBe(200)
    expect(lines.filter(({ event }) => event !== 'request')).toEqual([
      { event: 'outer_limit_unavailable', error_name: 'MissingBinding' },
    ])
  })

  test('is logged when its binding fails, and requests are served', async () => {
    const limit = () => Promise.reject(new RangeError('secret'))
    const headers = { 'X-Request-Id': 'mine' }
    expect((await fetchX(request(headers), { ...bindings(), OUTER_LIMITER: { limit } })).status).toBe(200)
    expect(lines[0]).toEqual({
      event: 'outer_limit_unavailable',
      request_id: 'mine',
      error_name: 'RangeError',
    })
  })
})

describe('the limit of 401s', () => {
  const accepted = new Set<string>()
  let asked = 0
  const { fetch } = endpoint({
    path: '/x',
    handler: async (context: RequestContext) => {
      const keyHash = requireKeyHash(context)
      asked += 1
      if (!accepted.has(keyHash)) throw httpError('key')
      context.var.log.keyId = 'its id'
      return { body: '{}', cacheable: false }
    },
  })

  let addresses = 0
  /** Sends requests from an address of its own, each at a time. */
  function client() {
    addresses += 1
    const address = `192.0.2.${addresses}`
    const start = Date.now()
    return async (ms: number, key?: string) => {
      vi.setSystemTime(start + ms)
      const headers = { 'CF-Connecting-IP': address, ...(key !== undefined && { 'X-API-Key': key }) }
      return fetch(request(headers), bindings())
    }
  }

  let keys = 0
  const newKey = () => {
    keys += 1
    return `svc_live_${String(keys).padStart(64, '0')}`
  }
  const accept = async (key: string) => accepted.add(await sha256(key))

  let redis: RequestInit[]
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
    redis = counterAnswers(counted(1))
    accepted.clear()
    asked = 0
    return () => void vi.useRealTimers()
  })

  test('lets 20 of an address pass, then one every 3 seconds, and answers 429 before Redis and Postgres', async () => {
    const send = client()
    const statuses: number[] = []
    for (let times = 0; times < 25; times += 1) statuses.push((await send(0, newKey())).status)
    expect(statuses).toEqual([...Array(20).fill(401), ...Array(5).fill(429)])
    expect([asked, redis.length]).toEqual([20, 20])
    const response = await send(1, newKey())
    expect(response.headers.get('Retry-After')).toBe('3')
    expect(await response.json()).toEqual({ error: httpError('unauthorizedLimit').message })
    expect((await send(2999, newKey())).status).toBe(429)
    expect((await send(3000, newKey())).status).toBe(401)
    expect((await send(3000, newKey())).status).toBe(429)
    expect([asked, redis.length]).toEqual([21, 21])
  })

  test('counts requests without a key, which cost Redis', async () => {
    const send = client()
    for (let times = 0; times < 20; times += 1) expect((await send(0)).status).toBe(401)
    expect((await send(0)).status).toBe(429)
    expect(redis).toHaveLength(20)
  })

  /** An address that has sent too many wrong keys. */
  async function blocked() {
    const send = client()
    for (let times = 0; times < 20; times += 1) await send(0, newKey())
    expect((await send(0, newKey())).status).toBe(429)
    return send
  }

  test('lets a key pass that was accepted before, for ten minutes, and Postgres still decides', async () => {
    const key = newKey()
    await accept(key)
    expect((await client()(0, key)).status).toBe(200)
    const send = await blocked()
    expect((await send(0, key)).status).toBe(200)
    accepted.clear()
    expect((await send(0, key)).status, 'revoked').toBe(401)

    await accept(key)
    const again = client()
    expect((await again(0, key)).status).toBe(200)
    for (let times = 0; times < 20; times += 1) await again(600_000, newKey())
    expect((await again(600_000, key)).status, 'ten minutes later').toBe(429)
  })

  test('keeps a new key waiting for at most 3 seconds after the last wrong one', async () => {
    const key = newKey()
    await accept(key)
    const send = await blocked()
    expect((await send(0, key)).status).toBe(429)
    expect((await send(3000, key)).status).toBe(200)
  })

  test('lets a new key pass at once below it, and from any other address', async () => {
    const key = newKey()
    await accept(key)
    const send = client()
    for (let times = 0; times < 19; times += 1) await send(0, newKey())
    expect((await send(0, key)).status).toBe(200)
    const other = newKey()
    await accept(other)
    await blocked()
    expect((await client()(0, other)).status).toBe(200)
  })

  test('waits no longer after many 401s at once', async () => {
    const send = client()
    await Promise.all(Array.from({ length: 100 }, () => send(0, newKey())))
    expect((await send(0, newKey())).headers.get('Retry-After')).toBe('3')
  })

  test('is a thirtieth of the outer limit', async () => {
    const send = (address: string) =>
      fetch(request({ 'CF-Connecting-IP': address }), { ...bindings(), OUTER_LIMIT: '60' })
    expect([await send('192.0.2.200'), await send('192.0.2.200')].map(({ status }) => status)).toEqual([
      401, 401,
    ])
    const third = await send('192.0.2.200')
    expect([third.status, third.headers.get('Retry-After')]).toEqual([429, '30'])
  })
})
