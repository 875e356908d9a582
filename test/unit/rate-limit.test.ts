import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Env, parseEnv } from '../../lib/env.ts'
import { BUDGET, budgetHeaders, consume, identity, isBlocked } from '../../lib/rate-limit.ts'
import { emptyLog, loggedLines } from '../support/log.ts'

/** A counter that answers as a test says; it keeps silent while it is told nothing. */
let answer: ((response: ServerResponse) => unknown) | null = null
let asked: IncomingHttpHeaders[] = []
let env: Env

const server = createServer((request, response) => {
  asked.push(request.headers)
  request.resume()
  request.on('end', () => answer?.(response))
})

const saying = (result: unknown, status = 200) => {
  answer = (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(result))
  }
}

const complaints = loggedLines()

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

beforeEach(() => {
  asked = []
  const address = server.address()
  env = parseEnv({
    DATABASE_URL: 'postgres://db.example/x',
    UPSTASH_REDIS_REST_URL: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    UPSTASH_REDIS_REST_TOKEN: 'token',
    CURSOR_SECRET: 'secret',
  })
})

let callers = 0
const somebody = () => {
  callers += 1
  return `caller ${callers}`
}

const count = (now = new Date(), caller = somebody(), answering: Promise<unknown> | null = null) =>
  consume({ caller, env, now, log: emptyLog() }, answering)

describe('a caller', () => {
  test('passes while its count is within the budget, and is told what is left', async () => {
    saying({ result: [1, BUDGET.requests] })
    expect(await count()).toMatchObject({ passes: true, remaining: 99 })
    saying({ result: [100, BUDGET.requests] })
    expect(await count()).toMatchObject({ passes: true, remaining: 0 })
    saying({ result: [101, BUDGET.requests] })
    expect(await count()).toMatchObject({ passes: false, remaining: 0 })
    expect(complaints).toEqual([])
  })

  test('waits at least a second and at most a minute, whatever the clocks say', async () => {
    saying({ result: [1, BUDGET.requests] })
    expect(await count(new Date('2020-01-01'))).toMatchObject({ resetSeconds: 60 })
    expect(await count(new Date('2999-01-01'))).toMatchObject({ resetSeconds: 1 })
  })

  test('that was refused is known to be over its budget until the minute ends, and no other is', async () => {
    const [me, other] = [somebody(), somebody()]
    const now = new Date()
    saying({ result: [100, BUDGET.requests] })
    await count(now, me)
    expect(isBlocked(me, now)).toBe(false)
    saying({ result: [101, BUDGET.requests] })
    await count(now, me)
    expect(isBlocked(me, now)).toBe(true)
    expect(isBlocked(other, now)).toBe(false)
    expect(isBlocked(me, new Date(now.getTime() + 60_000))).toBe(false)
  })
})

describe('a counter that', () => {
  const unusable: [string, unknown, number][] = [
    ['has another limit', { result: [1, 50] }, 200],
    ['counts in parts', { result: [1.5, BUDGET.requests] }, 200],
    ['gives no count', { result: null }, 200],
    ['gives a text', { result: 'many' }, 200],
    ['refuses', { error: 'secret detail' }, 400],
    ['fails', { error: 'secret detail' }, 500],
  ]
  test.each(
    unusable,
  )('%s is away: the request is served, and one line says so', async (_, result, status) => {
    saying(result, status)
    expect(await count()).toBeNull()
    expect(complaints).toEqual([
      { event: 'rate_budget_unavailable', request_id: 'a-request', kind: expect.stringMatching(/^\w+$/) },
    ])
  })

  test('breaks the connection off is away', async () => {
    answer = (response) => response.destroy()
    expect(await count()).toBeNull()
    expect(complaints).toHaveLength(1)
  })

  test('fails is not asked again, and hears of a request no more than it must', async () => {
    saying({ result: [1, BUDGET.requests] })
    await count()
    saying({ error: 'secret detail' }, 500)
    await count()
    answer = (response) => response.destroy()
    await count()
    await delay(1000)
    expect(asked).toHaveLength(3)
    for (const headers of asked) {
      expect(Object.keys(headers).filter((name) => /^upstash-(sync|telemetry)/.test(name))).toEqual([])
    }
  })

  test.each([
    ['alone', () => null],
    ['beside a database that answers', () => Promise.resolve()],
    ['beside a database that fails', () => Promise.reject(new Error('away'))],
  ])('is silent, asked %s, is late', async (_, ask) => {
    answer = null
    expect(await count(new Date(), somebody(), ask())).toBeNull()
    expect(complaints).toMatchObject([{ kind: 'late' }])
  })

  test('takes its time while the database takes longer is waited for', async () => {
    const database = delay(1000)
    answer = (response) => setTimeout(() => response.end('{"result":[1,100]}'), 1500)
    expect(await count(new Date(), somebody(), database)).toMatchObject({ passes: true, remaining: 99 })
  })

  test('answered lately is waited for longer, until somebody finds it silent', async () => {
    saying({ result: [1, BUDGET.requests] })
    await count()
    answer = (response) => setTimeout(() => response.end('{"result":[2,100]}'), 1500)
    expect(await count()).toMatchObject({ passes: true, remaining: 98 })
    answer = null
    expect(await count()).toBeNull()
    answer = (response) => setTimeout(() => response.end('{"result":[3,100]}'), 1500)
    expect(await count()).toBeNull()
  })

  test('answers others in the meantime is waited for', async () => {
    answer = (response) => setTimeout(() => response.end('{"result":[1,100]}'), 1400)
    const first = count()
    for (const wait of [400, 500]) {
      await delay(wait)
      saying({ result: [2, BUDGET.requests] })
      expect(await count()).toMatchObject({ remaining: 98 })
    }
    expect(await first).toMatchObject({ passes: true, remaining: 99 })
  })

  test('answers others in the meantime is waited for, however quick the database was', async () => {
    answer = (response) => setTimeout(() => response.end('{"result":[1,100]}'), 1000)
    const first = count(new Date(), somebody(), Promise.resolve())
    await delay(500)
    saying({ result: [2, BUDGET.requests] })
    await count()
    expect(await first).toMatchObject({ passes: true, remaining: 99 })
  })

  test('was silent for one caller and answered another is waited for longer', async () => {
    answer = null
    const first = count(new Date(), somebody(), Promise.resolve())
    await delay(100)
    saying({ result: [1, BUDGET.requests] })
    await count()
    expect(await first).toBeNull()
    answer = (response) => setTimeout(() => response.end('{"result":[2,100]}'), 1500)
    expect(await count()).toMatchObject({ passes: true, remaining: 98 })
  })
})

test('a caller without an address or a User-Agent is the same as one whose are empty, and no other', async () => {
  const callers = await Promise.all(
    [
      {},
      { 'CF-Connecting-IP': '', 'User-Agent': '' },
      { 'User-Agent': 'x' },
      { 'CF-Connecting-IP': '::1' },
    ].map(async (headers) => {
      const app = new Hono().get('/', async (context) => context.text(await identity(context, env)))
      return (await app.request('/', { headers })).text()
    }),
  )
  expect(callers[0]).toBe(callers[1])
  expect(new Set(callers).size).toBe(3)
})

test('the headers tell the policy, and what is left when it is known', () => {
  const policy = { 'RateLimit-Policy': '"default";q=100;w=60' }
  expect(budgetHeaders(null)).toEqual(policy)
  expect(budgetHeaders({ passes: true, remaining: 7, resetSeconds: 42 })).toEqual({
    ...policy,
    RateLimit: '"default";r=7;t=42',
  })
})
