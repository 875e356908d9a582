import { randomBytes, randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, type Call, call } from '../support/call.ts'
import { clearOfEnd, MINUTE } from '../support/clock.ts'
import { expectError } from '../support/expect-error.ts'
import { tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'

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
const left = async (headers: Headers): Promise<number> => remaining(await call('/openapi.json', { headers }))

const secondsLeft = () => Math.ceil((MINUTE - (Date.now() % MINUTE)) / 1000)

describe('every response after the check of path and method', () => {
  test('states the policy, the remaining requests, and the seconds to the end of the minute', async () => {
    const me = newClient()
    const most = secondsLeft()
    const answer = await call('/openapi.json', { headers: me })
    const least = secondsLeft()
    const names = [...answer.headers.keys()].filter((name) => /rate-?limit|retry/i.test(name))
    expect(names.sort(), 'no header of another meaning').toEqual(['ratelimit', 'ratelimit-policy'])
    expect(answer.headers.get('RateLimit-Policy')).toBe('"default";q=100;w=60')
    const [, rest, seconds] = /^"default";r=(\d+);t=(\d+)$/.exec(answer.headers.get('RateLimit') ?? '') ?? []
    expect(rest).toBe('99')
    expect(Number(seconds)).toBeGreaterThanOrEqual(least)
    expect(Number(seconds)).toBeLessThanOrEqual(most)
    expect(await left(me)).toBe(98)
  })

  test('consumes one request, whatever its status and path', async () => {
    const me = newClient()
    const { key, brandId } = await tenant(db)
    const { key: lite } = await tenant(db, { plan: 'lite' })
    const calls: readonly (readonly [status: number, path: string, options: Call])[] = [
      [200, '/openapi.json', {}],
      [200, '/healthz', {}],
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

// Which clients share a budget: test/unit/rate-limit.test.ts.
test('an address, a User-Agent, a session and an Authorization header each have a budget of their own', async () => {
  const me = newClient()
  const clients = [
    me,
    { ...me, 'User-Agent': 'another' },
    { ...me, 'CF-Connecting-IP': address() },
    { ...me, Cookie: `session=${randomUUID()}` },
    { ...me, Authorization: `Bearer ${randomUUID()}` },
  ]
  for (const client of clients) expect([await left(client), await left(client)]).toEqual([99, 98])
})
