import { createHash } from 'node:crypto'
import { Redis } from '@upstash/redis'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { upstash } from '../../../emulator/upstash/handler.ts'
import { connectRedis, embeddedRedis } from '../../../emulator/upstash/redis.ts'

const REDIS_URL = process.env.REDIS_URL
const ORIGIN = 'https://local.upstash.test'
const backends = [
  { name: 'embedded', backend: embeddedRedis() },
  ...(REDIS_URL ? [{ name: 'server', backend: await connectRedis(REDIS_URL) }] : []),
]

describe.for(backends)('over the $name Redis', ({ backend }) => {
  const handler = upstash(backend, 'right')
  const redis = (token = 'right') =>
    new Redis({ url: ORIGIN, token, retry: { retries: 0 }, enableAutoPipelining: false })
  /** A key of this run, on a server that others may use. */
  const key = (name: string) => `emulator-test:${process.pid}:${name}`

  /** Sends a body without Upstash's client. */
  const post = async (body: unknown, token = 'right') => {
    const init = { method: 'POST', headers: { Authorization: `Bearer ${token}` }, body: JSON.stringify(body) }
    const response = await handler(new Request(ORIGIN, init))
    return { status: response.status, body: await response.json() }
  }

  beforeEach(() => {
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => handler(new Request(url, init)))
  })

  afterAll(() => {
    vi.unstubAllGlobals()
    backend.close()
  })

  it('finds a script by the hash of its text, shebang included', async () => {
    const script = `#!lua flags=allow-key-locking\nreturn {ARGV[1], 'OK'}`
    await expect(redis().evalsha('0'.repeat(40), [], [])).rejects.toThrow('NOSCRIPT')
    expect(await redis().eval(script, [], ['first'])).toEqual(['first', 'OK'])
    const sha = createHash('sha1').update(script).digest('hex')
    expect(await redis().evalsha(sha, [], ['again'])).toEqual(['again', 'OK'])
  })

  it('encodes strings as base64, except a result that is OK', async () => {
    const body = ['EVAL', "return {'plain', 7, {'deep', 'OK'}}", 0]
    expect((await post(body)).body).toEqual({ result: ['cGxhaW4=', 7, ['ZGVlcA==', 'T0s=']] })
    expect((await post(['SET', key('x'), 1, 'EX', 60])).body).toEqual({ result: 'OK' })
  })

  it('rejects another token', async () => {
    await expect(redis('wrong').get('x')).rejects.toThrow('Unauthorized')
    expect((await post(['GET', 'x'], '')).status).toBe(401)
  })

  it.for([[['NOSUCH', 'x']], [[]], [{ a: 1 }]])('%j is a 400', async ([body]) => {
    expect(await post(body)).toEqual({ status: 400, body: { error: expect.stringMatching(/^ERR/) } })
  })
})
