import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from 'hono'
import { describe, expect, test } from 'vitest'
import { EnvironmentError } from '../../lib/env.ts'
import { httpError } from '../../lib/errors.ts'
import { type RequestLog, timed } from '../../lib/request-log.ts'
import { respond, worker } from '../../lib/worker.ts'
import { loggedLines } from '../support/log.ts'

const lines = loggedLines()

/** What a Worker answers whose gates and answer are `pass`. */
const answerOf = async (pass: (context: Context, log: RequestLog) => Promise<Response>) =>
  worker(pass).fetch(new Request('http://localhost/x', { headers: { 'X-Request-Id': 'mine' } }), {})

const failing = (error: unknown) => answerOf(() => Promise.reject(error))

describe('an answer', () => {
  test('is JSON that nobody else may keep, nor its reader use without asking', async () => {
    const { status, headers } = await answerOf((context, log) =>
      respond(context, { body: '{}', cacheable: false }, log),
    )
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe('application/json')
    expect(headers.get('Cache-Control')).toBe('private, no-cache')
  })

  test('has its own headers in place of these, and a link beside the links that are there', async () => {
    const { headers } = await answerOf((context, log) => {
      context.header('Link', '</old>; rel="deprecation"')
      const own = { 'Cache-Control': 'public', Link: '</next>; rel="next"' }
      return respond(context, { body: '{}', headers: own, cacheable: false }, log)
    })
    expect(headers.get('Cache-Control')).toBe('public')
    expect(headers.get('Link')).toBe('</old>; rel="deprecation", </next>; rel="next"')
  })

  test('tells how long the servers took, and its line how long it took in all', async () => {
    const { headers } = await answerOf(async (context, log) => {
      await timed(log, 'neon', () => delay(30))
      return respond(context, { body: '{}', cacheable: false }, log)
    })
    const waited = Number(/^db;dur=(\d+)$/.exec(headers.get('Server-Timing') ?? '')?.[1])
    expect(waited).toBeGreaterThanOrEqual(29)
    expect(waited).toBeLessThan(30_000)
    expect(lines).toMatchObject([{ event: 'request', request_id: 'mine', trips: { neon: 1, upstash: 0 } }])
    expect(Number(lines[0]?.ms)).toBeGreaterThanOrEqual(waited)
    expect(Number(lines[0]?.ms)).toBeLessThan(30_000)
  })
})

describe('an error', () => {
  test('that nobody foresaw is a 500 which says nothing of it, and a line which says where it came from', async () => {
    const error = new TypeError('svc_live_secret\n    at most a secret')
    error.stack = `TypeError: svc_live_secret\nat a secret\n    at answer (worker.js:1:2)\n at pass (worker.js:3:4)`
    const response = await failing(error)
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({ error: 'Something went wrong on our side.' })
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    const [failed, ...others] = lines
    expect(failed).toEqual({
      event: 'unhandled_error',
      request_id: 'mine',
      kind: 'TypeError',
      stack: ['    at answer (worker.js:1:2)', ' at pass (worker.js:3:4)'],
    })
    expect(others).toMatchObject([{ event: 'request', status: 500 }])
  })

  test('without a stack, or that is none, is told by its kind', async () => {
    const error = new RangeError('secret')
    delete error.stack
    await failing(error)
    await failing('a secret text')
    const failed = lines.filter(({ event }) => event === 'unhandled_error')
    expect(failed).toEqual([
      { event: 'unhandled_error', request_id: 'mine', kind: 'RangeError' },
      { event: 'unhandled_error', request_id: 'mine', kind: 'string' },
    ])
  })

  test('of the environment tells its message, which quotes no value', async () => {
    await failing(new EnvironmentError('CURSOR_SECRET is missing'))
    expect(lines[0]).toMatchObject({ event: 'unhandled_error', message: 'CURSOR_SECRET is missing' })
  })

  test('that is a refusal is answered and no failure', async () => {
    const { status, headers } = await failing(httpError('method', { Allow: 'GET' }))
    expect([status, headers.get('Allow'), headers.get('Cache-Control')]).toEqual([405, 'GET', 'no-store'])
    expect(lines.map(({ event }) => event)).toEqual(['request'])
  })
})
