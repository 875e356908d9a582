import { randomBytes, randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, type Call, call } from '../support/call.ts'
import { clearOfEnd, MINUTE } from '../support/clock.ts'
import { expectError } from '../support/refusal.ts'
import { tenant } from '../support/tenant.ts'
import { database, exportKey } from '../support/world.ts'

const db = database()

// A test counts within one clock minute, so it starts in none that is about to end.
beforeEach(() => clearOfEnd(MINUTE, 5_000), 30_000)

type Headers = Readonly<Record<string, string>>

/** A caller that nobody else is: an address and a User-Agent. */
const somebody = (): Headers => ({ 'CF-Connecting-IP': address(), 'User-Agent': `agent ${randomUUID()}` })

/** An address in a /64 of its own. */
const address = () => `2001:db8:${group()}:${group()}::1`
const group = () => (randomBytes(2).readUInt16BE() | 0x1000).toString(16)

const remaining = ({ headers }: Answer): number =>
  Number(/^"default";r=(\d+);t=\d+$/.exec(headers.get('RateLimit') ?? '')?.[1])

/** Sends a request to the endpoint that needs nothing, and gives what is left of the caller's budget. */
async function left(headers: Headers, options: Call & { path?: string } = {}): Promise<number> {
  return remaining(await call(options.path ?? '/openapi.json', { ...options, headers }))
}

/** Whether two callers spend one budget. */
async function share(one: Headers, other: Headers): Promise<boolean> {
  const [first, second] = [await left(one), await left(other)]
  expect(first).toBe(99)
  return second === 98
}

const secondsLeft = () => Math.ceil((MINUTE - (Date.now() % MINUTE)) / 1000)

describe('every answer past the path and the method', () => {
  test('tells the policy, what is left, and the seconds to the end of the minute', async () => {
    const me = somebody()
    const most = secondsLeft()
    const answer = await call('/openapi.json', { headers: me })
    const least = secondsLeft()
    expect(answer.headers.get('RateLimit-Policy')).toBe('"default";q=100;w=60')
    const [, rest, seconds] = /^"default";r=(\d+);t=(\d+)$/.exec(answer.headers.get('RateLimit') ?? '') ?? []
    expect(rest).toBe('99')
    expect(Number(seconds)).toBeGreaterThanOrEqual(least)
    expect(Number(seconds)).toBeLessThanOrEqual(most)
    expect(await left(me)).toBe(98)
  })

  test('carries no header of other meaning', async () => {
    const { headers } = await call('/openapi.json', { headers: somebody() })
    const names = [...headers.keys()].filter((name) => /rate-?limit|retry/i.test(name))
    expect(names.sort()).toEqual(['ratelimit', 'ratelimit-policy'])
  })

  test('spends one request, whatever comes of it and wherever it is sent', async () => {
    const me = somebody()
    const { key, brandId } = await tenant(db)
    const { key: lite } = await tenant(db, { plan: 'lite' })
    const calls: readonly (readonly [status: number, path: string, options: Call])[] = [
      [200, '/openapi.json', {}],
      [200, '/brands', { key }],
      [200, '/visibility', { key, query: { brandId } }],
      [200, '/sentiment', { key, query: { brandId }, method: 'HEAD' }],
      [401, '/citations', {}],
      [401, '/brands', { key: 'bad' }],
      [401, '/brands', { key: `svc_live_${randomBytes(32).toString('hex')}` }],
      [403, '/brands', { key: lite }],
      [400, '/competitors', { key }],
      [404, '/citation-share', { key, query: { brandId: randomUUID() } }],
    ]
    for (const [index, [status, path, options]] of calls.entries()) {
      const answer = await call(path, { ...options, headers: me })
      expect([path, answer.status, remaining(answer)]).toEqual([path, status, 99 - index])
    }
  })
})

test('paths that are unknown and methods that are not answered spend nothing', async () => {
  const me = somebody()
  expect(await left(me)).toBe(99)
  expect((await call('/nothing', { headers: me })).status).toBe(404)
  expect((await call('/brands/', { headers: me })).status).toBe(404)
  expect((await call('/brands', { headers: me, method: 'POST' })).status).toBe(405)
  expect((await call('/visibility', { headers: me, method: 'OPTIONS' })).status).toBe(405)
  expect(await left(me)).toBe(98)
})

test('lets 100 of 130 requests at once through, over five endpoints', async () => {
  await clearOfEnd(MINUTE, 15_000)
  const me = somebody()
  const { key, brandId } = await tenant(db)
  const paths = ['/brands', '/visibility', '/citations', '/sentiment', '/openapi.json']
  const most = secondsLeft()
  const answers = await Promise.all(
    Array.from({ length: 130 }, (_, index) =>
      call(paths[index % paths.length] ?? '', { key, query: { brandId }, headers: me }),
    ),
  )
  const least = secondsLeft()
  const uncounted = answers.filter(({ headers }) => headers.get('RateLimit') === null)
  expect(uncounted, 'requests that did not wait for the counter').toHaveLength(0)
  const served = answers.filter(({ status }) => status === 200)
  const refused = answers.filter(({ status }) => status === 429)
  expect([served.length, refused.length]).toEqual([100, 30])
  expect(new Set(served.map(remaining)).size).toBe(100)
  for (const answer of refused) {
    expectError(answer, 429)
    expect(remaining(answer)).toBe(0)
    const wait = answer.headers.get('Retry-After') ?? ''
    expect(wait).toMatch(/^\d+$/)
    expect(Number(wait)).toBeGreaterThanOrEqual(Math.max(1, least))
    expect(Number(wait)).toBeLessThanOrEqual(Math.min(60, most))
  }

  // With nothing left the budget answers before the key does, and the path and the method before the budget.
  for (const bad of [undefined, 'bad']) expectError(await call('/brands', { key: bad, headers: me }), 429)
  expectError(await call('/visibility', { key, query: { brandId: 'x' }, headers: me }), 429)
  expectError(await call('/nothing', { headers: me }), 404)
  expectError(await call('/brands', { headers: me, method: 'PUT' }), 405)
  const head = await call('/brands', { key, headers: me, method: 'HEAD' })
  expect([head.status, head.text]).toEqual([429, ''])
  expect((await call('/brands', { key, headers: somebody() })).status).toBe(200)
})

describe('a budget belongs to', () => {
  test('an address with a User-Agent', async () => {
    const me = somebody()
    expect(await share(me, { ...me })).toBe(true)
    expect(await share(somebody(), somebody())).toBe(false)
    const another = somebody()
    expect(await share(another, { ...another, 'User-Agent': 'another' })).toBe(false)
    const moved = somebody()
    expect(await share(moved, { ...moved, 'CF-Connecting-IP': address() })).toBe(false)
  })

  test('a /64 of IPv6, and to each address of IPv4', async () => {
    const from = (userAgent: string, ip: string) => ({ 'CF-Connecting-IP': ip, 'User-Agent': userAgent })
    const [one, two, three, four] = Array.from({ length: 4 }, () => randomUUID())
    const net = `2001:db8:${group()}`
    expect(await share(from(`${one}`, `${net}:1::1`), from(`${one}`, `${net}:1:ffff:ffff:ffff:ffff`))).toBe(
      true,
    )
    expect(await share(from(`${two}`, `${net}:1::1`), from(`${two}`, `${net}:2::1`))).toBe(false)
    expect(await share(from(`${three}`, '198.51.100.1'), from(`${three}`, '198.51.100.2'))).toBe(false)
    expect(await share(from(`${four}`, '198.51.100.1'), from(`${four}`, '198.51.100.1'))).toBe(true)
  })

  test('a session, wherever it comes from', async () => {
    const [mine, yours] = [randomUUID(), randomUUID()]
    const withCookie = (cookie: string) => ({ ...somebody(), Cookie: cookie })
    expect(await share(withCookie(`session=${mine}`), withCookie(`theme=dark; session=${mine}`))).toBe(true)
    const me = somebody()
    expect(
      await share({ ...me, Cookie: `session=${yours}` }, { ...me, Cookie: `session=${randomUUID()}` }),
    ).toBe(false)
    expect(await left(me)).toBe(99)
  })

  test('an Authorization header, wherever it comes from', async () => {
    const token = () => `Bearer ${randomUUID()}`
    const mine = token()
    expect(await share({ ...somebody(), Authorization: mine }, { ...somebody(), Authorization: mine })).toBe(
      true,
    )
    const me = somebody()
    expect(await share({ ...me, Authorization: token() }, { ...me, Authorization: token() })).toBe(false)
    expect(await left(me)).toBe(99)
  })

  test('no other cookie, and no empty one', async () => {
    const [me, you] = [somebody(), somebody()]
    expect(await share({ ...me, Cookie: 'theme=dark' }, { ...me, Cookie: 'theme=light' })).toBe(true)
    expect(await share({ ...somebody(), Cookie: 'session=' }, { ...you, Cookie: 'session=' })).toBe(false)
  })

  test('no X-API-Key', async () => {
    const { org, key } = await tenant(db)
    const { key: second } = await exportKey(db, org)
    const me = somebody()
    expect(await left(me, { path: '/brands', key })).toBe(99)
    expect(await left(me, { path: '/brands', key: second })).toBe(98)
    expect(await left(somebody(), { path: '/brands', key })).toBe(99)
  })
})
