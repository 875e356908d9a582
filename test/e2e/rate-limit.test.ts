import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { type Answer, type Call, call } from '../fixtures/call.ts'
import { clientWith } from '../fixtures/client-with.ts'
import { expectError } from '../fixtures/expect-error.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { database } from '../fixtures/rows.ts'
import { tenant } from '../fixtures/tenant.ts'

const db = database()

const service = await startOwnService()
afterAll(() => service.close())

/** A client whose bucket receives nothing in an hour. */
const newClient = (requests = 100) => clientWith(requests, service, { refillMs: 3_600_000 })

const send = (path: string, options: Call): Promise<Answer> =>
  call(path, { ...options, service: service.url })

const remaining = ({ headers }: Answer): number =>
  Number(/^"default";r=(\d+);t=\d+$/.exec(headers.get('RateLimit') ?? '')?.[1])

describe('every response after the check of path and method', () => {
  test('states the policy, the remaining requests, and the seconds to the next refill', async () => {
    const answer = await send('/openapi.json', { headers: { Cookie: `session=${randomUUID()}` } })
    const names = [...answer.headers.keys()].filter((name) => /rate-?limit|retry/i.test(name))
    expect(names.sort(), 'no header of another meaning').toEqual(['ratelimit', 'ratelimit-policy'])
    expect(answer.headers.get('RateLimit-Policy')).toBe('"default";q=100;w=60')
    expect(answer.headers.get('RateLimit')).toMatch(/^"default";r=99;t=[1-3]$/)
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
    const headers = await newClient()
    expect((await send('/nothing', { headers })).status).toBe(404)
    expect((await send('/brands', { headers, method: 'POST' })).status).toBe(405)
    for (const [index, [status, path, options]] of calls.entries()) {
      const answer = await send(path, { ...options, headers })
      expect([path, answer.status, remaining(answer)]).toEqual([path, status, 99 - index])
    }
  })
})

// How the bucket refills: test/unit/token-bucket.test.ts.
test('the budget comes after the path and the method, and before the key', async () => {
  const { key } = await tenant(db)
  const headers = await newClient(0)
  for (const bad of [undefined, 'bad']) expectError(await send('/brands', { key: bad, headers }), 429)
  const refused = await send('/visibility', { key, query: { brandId: 'x' }, headers })
  expectError(refused, 429)
  expect(refused.headers.get('Retry-After')).toMatch(/^([1-9]|1[0-2])$/)
  expectError(await send('/nothing', { headers }), 404)
  expectError(await send('/brands', { headers, method: 'PUT' }), 405)
  const head = await send('/brands', { key, headers, method: 'HEAD' })
  expect([head.status, head.text]).toEqual([429, ''])
})
