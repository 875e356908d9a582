import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Answer, type Call, call } from '../fixtures/call.ts'
import { expectError } from '../fixtures/expect-error.ts'
import { database } from '../fixtures/rows.ts'
import { tenant } from '../fixtures/tenant.ts'

const db = database()

type Headers = Readonly<Record<string, string>>

/** A client with a session of its own. */
const newClient = (): Headers => ({ Cookie: `session=${randomUUID()}` })

const remaining = ({ headers }: Answer): number =>
  Number(/^"default";r=(\d+);t=\d+$/.exec(headers.get('RateLimit') ?? '')?.[1])

/** Sends a request and returns what remains of the client's budget. */
const left = async (headers: Headers): Promise<number> => remaining(await call('/openapi.json', { headers }))

const REFILL_MS = 12_000

/** Runs steps of a new client; again with another client when a refill can have happened between them. */
async function withoutRefill(steps: (me: Headers) => Promise<void>): Promise<void> {
  for (;;) {
    const start = Date.now()
    const failure = await steps(newClient()).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    if (Date.now() - start >= REFILL_MS) continue
    if (failure) throw failure.error
    return
  }
}

describe('every response after the check of path and method', () => {
  test('states the policy, the remaining requests, and the seconds to the next refill', async () => {
    const answer = await call('/openapi.json', { headers: newClient() })
    const names = [...answer.headers.keys()].filter((name) => /rate-?limit|retry/i.test(name))
    expect(names.sort(), 'no header of another meaning').toEqual(['ratelimit', 'ratelimit-policy'])
    expect(answer.headers.get('RateLimit-Policy')).toBe('"default";q=100;w=60')
    expect(answer.headers.get('RateLimit')).toBe('"default";r=99;t=12')
  })

  test('consumes one request, whatever its status', async () => {
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
    await withoutRefill(async (me) => {
      expect((await call('/nothing', { headers: me })).status).toBe(404)
      expect((await call('/brands', { headers: me, method: 'POST' })).status).toBe(405)
      for (const [index, [status, path, options]] of calls.entries()) {
        const answer = await call(path, { ...options, headers: me })
        expect([path, answer.status, remaining(answer)]).toEqual([path, status, 99 - index])
      }
    })
  })
})

// How the bucket refills: test/unit/rate-limit.test.ts.
test('the budget comes after the path and the method, and before the key', () =>
  withoutRefill(async (me) => {
    const { key } = await tenant(db)
    while ((await left(me)) > 0) await Promise.all(Array.from({ length: 10 }, () => left(me)))
    for (const bad of [undefined, 'bad']) expectError(await call('/brands', { key: bad, headers: me }), 429)
    expectError(await call('/visibility', { key, query: { brandId: 'x' }, headers: me }), 429)
    expectError(await call('/nothing', { headers: me }), 404)
    expectError(await call('/brands', { headers: me, method: 'PUT' }), 405)
    const head = await call('/brands', { key, headers: me, method: 'HEAD' })
    expect([head.status, head.text]).toEqual([429, ''])
  }))
