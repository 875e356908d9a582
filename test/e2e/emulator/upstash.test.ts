import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { upstash } from '../../../emulator/upstash/handler.ts'
import { connectRedis, embeddedRedis } from '../../../emulator/upstash/redis.ts'

const REDIS_URL = process.env.REDIS_URL
const URL_ = 'https://local.upstash.test'
const backends = [
  { name: 'embedded', backend: embeddedRedis() },
  ...(REDIS_URL ? [{ name: 'server', backend: await connectRedis(REDIS_URL) }] : []),
]

describe.for(backends)('over the $name Redis', ({ backend }) => {
  const answer = upstash(backend, 'right')
  const redis = (token = 'right') => new Redis({ url: URL_, token, retry: { retries: 0 } })
  /** Keys of one test run, on a server that others use too. */
  const key = (name: string) => `emulator-test:${process.pid}:${name}`

  /** Posts a body without a client between. */
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await answer(
      new Request(`${URL_}${path}`, {
        method: 'POST',
        headers: { Authorization: 'Bearer right', ...headers },
        body: JSON.stringify(body),
      }),
    )
    return { status: response.status, body: await response.json() }
  }

  beforeEach(() => {
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => answer(new Request(url, init)))
  })

  afterAll(async () => {
    vi.unstubAllGlobals()
    backend.close()
  })

  it('gives back what was set', async () => {
    await redis().set(key('text'), 'grün "OK" \n')
    expect(await redis().get(key('text'))).toBe('grün "OK" \n')
    expect(await redis().get(key('never-set'))).toBeNull()
    await redis().del(key('text'))
  })

  it('passes exactly 100 of 130 requests at once, whose script it did not know', async () => {
    const limiter = new Ratelimit({
      redis: redis(),
      // A day, so that no window ends while the test runs.
      limiter: Ratelimit.fixedWindow(100, '1 d'),
      prefix: key('limit'),
      ephemeralCache: false,
    })
    const answers = await Promise.all(Array.from({ length: 130 }, () => limiter.limit('someone')))
    expect(answers.filter(({ success }) => success)).toHaveLength(100)
    expect(await limiter.limit('someone else')).toMatchObject({ success: true, remaining: 99 })
    await redis().del(...(await redis().keys(`${key('limit')}*`)))
  })

  it('knows a script by the hash of what was sent, its first line included', async () => {
    const script = `#!lua flags=allow-key-locking\nreturn {ARGV[1], 'OK'}`
    await expect(redis().evalsha('0'.repeat(40), [], [])).rejects.toThrow('NOSCRIPT')
    const sha = await redis().scriptLoad(script)
    expect(await redis().evalsha(sha, [], ['first'])).toEqual(['first', 'OK'])
  })

  it('encodes every string but a plain OK, when it is asked to', async () => {
    const base64 = { 'Upstash-Encoding': 'base64' }
    const script = "return {'plain', 7, {'deep', 'OK'}}"
    const body = ['EVAL', script, 0]
    expect((await post('/', body)).body).toEqual({ result: ['plain', 7, ['deep', 'OK']] })
    expect((await post('/', body, base64)).body).toEqual({
      result: ['cGxhaW4=', 7, ['ZGVlcA==', 'T0s=']],
    })
    expect(
      (
        await post(
          '/pipeline',
          [
            ['SET', key('x'), 1],
            ['GET', key('x')],
            ['DEL', key('x')],
          ],
          base64,
        )
      ).body,
    ).toEqual([{ result: 'OK' }, { result: 'MQ==' }, { result: 1 }])
  })

  it('refuses another token', async () => {
    await expect(redis('wrong').get('x')).rejects.toThrow('Unauthorized')
    expect((await post('/', ['GET', 'x'], { Authorization: '' })).status).toBe(401)
  })

  it('answers the good commands of a pipeline beside the bad one', async () => {
    const commands = [
      ['SET', key('text'), 'x'],
      ['NOSUCH', key('text')],
      ['GET', key('text')],
      ['DEL', key('text')],
    ]
    expect(await post('/pipeline', commands)).toEqual({
      status: 200,
      body: [
        { result: 'OK' },
        { error: expect.stringContaining('unknown command') },
        { result: 'x' },
        { result: 1 },
      ],
    })
  })

  it('runs a transaction', async () => {
    const results = await redis().multi().set(key('t'), 1).incr(key('t')).del(key('t')).exec()
    expect(results).toEqual(['OK', 2, 1])
  })

  it('answers what is no command with an error', async () => {
    expect(await post('/', ['NOSUCH', 'x'])).toEqual({
      status: 400,
      body: { error: expect.stringContaining('unknown command') },
    })
    for (const [path, body] of [
      ['/', []],
      ['/', { a: 1 }],
      ['/pipeline', ['GET', 'x']],
      ['/elsewhere', ['GET', 'x']],
    ] as const) {
      const { status, body: answered } = await post(path, body)
      expect([status >= 400 && status < 500, answered]).toEqual([true, { error: expect.any(String) }])
    }
  })
})
