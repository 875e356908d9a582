import { randomBytes, randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, type Call, call } from '../support/call.ts'
import { clearOfEnd, MINUTE } from '../support/clock.ts'
import { expectError } from '../support/expect-error.ts'
import { tenant } from '../support/tenant.ts'
import { database, exportKey } from '../support/world.ts'

const db = database()

// A test counts within one clock minute, so it starts in none that is about to end.
beforeEach(() => clearOfEnd(MINUTE, 5_000), 30_000)

type Headers = Readonly<Record<string, string>>

/** A client with an address and a User-Agent of its own. */
const newClient = (): Headers => ({ 'CF-Connecting-IP': address(), 'User-Agent': `agent ${randomUUID()}` })

/** An address in a /64 of its own. */
const address = () => `2001:db8:${group()}:${group()}::1`
const group = () => (randomBytes(2).readUInt16BE() | 0x1000).toString(16)

const remaining = ({ headers }: Answer): number =>
  Number(/^"default";r=(\d+);t=\d+$/.exec(headers.get('RateLimit') ?? '')?.[1])

/** Sends a request and returns what remains of the client's budget. */
async function left(headers: Headers, options: Call & { path?: string } = {}): Promise<number> {
  return remaining(await call(options.path ?? '/openapi.json', { ...options, headers }))
}

/** Whether two clients share one budget. */
async function share(one: Headers, other: Headers): Promise<boolean> {
  const [first, second] = [await left(one), await left(other)]
  expect(first).toBe(99)
  return second === 98
}

const secondsLeft = () => Math.ceil((MINUTE - (Date.now() % MINUTE)) / 1000)

describe('every response after the check of path and method', () => {
  test('states the policy, the remaining requests, and the seconds to the end of the minute', async () => {
    const me = newClient()
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

  test('has no rate header with another meaning', async () => {
    const { headers } = await call('/openapi.json', { headers: newClient() })
    const names = [...headers.keys()].filter((name) => /rate-?limit|retry/i.test(name))
    expect(names.sort()).toEqual(['ratelimit', 'ratelimit-policy'])
  })

  test('consumes one request, whatever its status and path', async () => {
    const me = newClient()
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

test('unknown paths and methods consume nothing', async () => {
  const me = newClient()
  expect(await left(me)).toBe(99)
  expect((await call('/nothing', { headers: me })).status).toBe(404)
  expect((await call('/brands/', { headers: me })).status).toBe(404)
  expect((await call('/brands', { headers: me, method: 'POST' })).status).toBe(405)
  expect((await call('/visibility', { headers: me, method: 'OPTIONS' })).status).toBe(405)
  expect(await left(me)).toBe(98)
})

test('lets 100 of 130 requests through, over five endpoints', async () => {
  await clearOfEnd(MINUTE, 15_000)
  const me = newClient()
  const { key, brandId } = await tenant(db)
  const paths = ['/brands', '/visibility', '/citations', '/sentiment', '/openapi.json']
  const most = secondsLeft()
  const answers: Answer[] = []
  // Ten at a time: a counter that a burst keeps waiting is not waited for.
  while (answers.length < 130) {
    answers.push(
      ...(await Promise.all(
        [...paths, ...paths].map((path) => call(path, { key, query: { brandId }, headers: me })),
      )),
    )
  }
  const least = secondsLeft()
  const uncounted = answers.filter(({ headers }) => headers.get('RateLimit') === null)
  expect(uncounted, 'requests that were not counted').toHaveLength(0)
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

  // With nothing left, the budget comes before the key, and the path and the method come before the budget.
  for (const bad of [undefined, 'bad']) expectError(await call('/brands', { key: bad, headers: me }), 429)
  expectError(await call('/visibility', { key, query: { brandId: 'x' }, headers: me }), 429)
  expectError(await call('/nothing', { headers: me }), 404)
  expectError(await call('/brands', { headers: me, method: 'PUT' }), 405)
  const head = await call('/brands', { key, headers: me, method: 'HEAD' })
  expect([head.status, head.text]).toEqual([429, ''])
  expect((await call('/brands', { key, headers: newClient() })).status).toBe(200)
})

describe('a budget belongs to', () => {
  test('an address with a User-Agent', async () => {
    const me = newClient()
    expect(await share(me, { ...me })).toBe(true)
    expect(await share(newClient(), newClient())).toBe(false)
    const another = newClient()
    expect(await share(another, { ...another, 'User-Agent': 'another' })).toBe(false)
    const moved = newClient()
    expect(await share(moved, { ...moved, 'CF-Connecting-IP': address() })).toBe(false)
  })

  // lib/network.ts is tested in full in test/unit/network.test.ts.
  test('a /64 of IPv6', async () => {
    const net = `2001:db8:${group()}`
    const from = (ip: string) => ({ 'CF-Connecting-IP': ip, 'User-Agent': 'agent' })
    expect(await share(from(`${net}:1::1`), from(`${net}:1:ffff:ffff:ffff:ffff`))).toBe(true)
    expect(await share(from(`${net}:2::1`), from(`${net}:3::1`))).toBe(false)
  })

  test('a session at any address', async () => {
    const [mine, yours] = [randomUUID(), randomUUID()]
    const withCookie = (cookie: string) => ({ ...newClient(), Cookie: cookie })
    expect(await share(withCookie(`session=${mine}`), withCookie(`theme=dark; session=${mine}`))).toBe(true)
    const me = newClient()
    expect(
      await share({ ...me, Cookie: `session=${yours}` }, { ...me, Cookie: `session=${randomUUID()}` }),
    ).toBe(false)
    expect(await left(me)).toBe(99)
  })

  test('an Authorization header at any address', async () => {
    const token = () => `Bearer ${randomUUID()}`
    const mine = token()
    expect(
      await share({ ...newClient(), Authorization: mine }, { ...newClient(), Authorization: mine }),
    ).toBe(true)
    const me = newClient()
    expect(await share({ ...me, Authorization: token() }, { ...me, Authorization: token() })).toBe(false)
    expect(await left(me)).toBe(99)
  })

  test('no other cookie, and no empty one', async () => {
    const [me, you] = [newClient(), newClient()]
    expect(await share({ ...me, Cookie: 'theme=dark' }, { ...me, Cookie: 'theme=light' })).toBe(true)
    expect(await share({ ...newClient(), Cookie: 'session=' }, { ...you, Cookie: 'session=' })).toBe(false)
  })

  test('no X-API-Key', async () => {
    const { org, key } = await tenant(db)
    const { key: second } = await exportKey(db, org)
    const me = newClient()
    expect(await left(me, { path: '/brands', key })).toBe(99)
    expect(await left(me, { path: '/brands', key: second })).toBe(98)
    expect(await left(newClient(), { path: '/brands', key })).toBe(99)
  })
})
