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
  const redis = (token = 'right') => new Redis({ url: ORIGIN, token, retry: { retries: 0 } })
  /** A key of this run, on a server that others may use. */
  const key = (name: string) => `emulator-test:${process.pid}:${name}`

  /** Sends a body without Upstash's client. */
  const post = async (path: string, body: unknown, more: Record<string, string> = {}) => {
    const headers = { Authorization: 'Bearer right', ...more }
    const response = await handler(
      new Request(`${ORIGIN}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
    )
    return { status: response.status, body: await response.json() }
  }

  beforeEach(() => {
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => handler(new Request(url, init)))
  })

  afterAll(() => {
    vi.unstubAllGlobals()
    backend.close()
  })

  it('returns what was set', async () => {
    await redis().set(key('text'), 'grün "OK" \n')
    expect(await redis().get(key('text'))).toBe('grün "OK" \n')
    expect(await redis().get(key('never-set'))).toBeNull()
    await redis().del(key('text'))
  })

  it('finds a script by the hash of its text, shebang included', async () => {
    const script = `#!lua flags=allow-key-locking\nreturn {ARGV[1], 'OK'}`
    await expect(redis().evalsha('0'.repeat(40), [], [])).rejects.toThrow('NOSCRIPT')
    const sha = await redis().scriptLoad(script)
    expect(await redis().evalsha(sha, [], ['first'])).toEqual(['first', 'OK'])
  })

  it('gives scripts false for a missing value of a list', async () => {
    const script = `
      redis.call('HSET', KEYS[1], 'set', 7)
      local found = redis.call('HMGET', KEYS[1], 'set', 'missing')
      redis.call('DEL', KEYS[1])
      return {found[1], tostring(found[2])}`
    expect(await redis().eval(script, [key('hash')], [])).toEqual([7, false])
  })

  it('encodes strings as base64 on request, except a result that is OK', async () => {
    const base64 = { 'Upstash-Encoding': 'base64' }
    const body = ['EVAL', "return {'plain', 7, {'deep', 'OK'}}", 0]
    expect((await post('/', body)).body).toEqual({ result: ['plain', 7, ['deep', 'OK']] })
    expect((await post('/', body, base64)).body).toEqual({ result: ['cGxhaW4=', 7, ['ZGVlcA==', 'T0s=']] })
    const set = ['SET', key('x'), 1, 'EX', 60]
    expect((await post('/', set, base64)).body).toEqual({ result: 'OK' })
  })

  it('rejects another token', async () => {
    await expect(redis('wrong').get('x')).rejects.toThrow('Unauthorized')
    expect((await post('/', ['GET', 'x'], { Authorization: '' })).status).toBe(401)
  })

  it('runs the valid commands of a pipeline', async () => {
    const commands = [['SET', key('text'), 'x'], ['NOSUCH'], ['GET', key('text')], ['DEL', key('text')]]
    const unknown = { error: expect.stringContaining('unknown command') }
    expect(await post('/pipeline', commands)).toEqual({
      status: 200,
      body: [{ result: 'OK' }, unknown, { result: 'x' }, { result: 1 }],
    })
  })

  it('runs a transaction', async () => {
    expect(await redis().multi().set(key('t'), 1).incr(key('t')).del(key('t')).exec()).toEqual(['OK', 2, 1])
  })

  it.for([
    ['/', ['NOSUCH', 'x'], 400],
    ['/', [], 400],
    ['/', { a: 1 }, 400],
    ['/pipeline', ['GET', 'x'], 400],
    ['/elsewhere', ['GET', 'x'], 404],
  ] as const)('%s with %j is %i', async ([path, body, status]) => {
    expect(await post(path, body)).toEqual({ status, body: { error: expect.stringMatching(/^ERR/) } })
  })
})
