import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { BASE } from '../../../lib/app.ts'
import { findEndpoints } from '../../support/endpoints.ts'
import { expectHarmless } from '../../support/harmless.ts'
import { tenant } from '../../support/tenant.ts'
import { type Field, fieldOf, type Heard, send } from '../../support/wire.ts'
import { database } from '../../support/world.ts'

const db = database()
const service = inject('serviceUrl')
const endpoints = await findEndpoints()

let key = ''
let tried = 0
let failed = 0

beforeAll(async () => {
  key = (await tenant(db)).key
})

afterAll(() => console.log(`hostile HTTP tried ${tried}, 5xx of a Worker ${failed}`))

/** Sends a request with a key, unless it brings one of its own. */
async function ask(method: string, target: string, fields: readonly Field[]): Promise<Heard> {
  const others = fields.some(([name]) => /^x-api-key$/i.test(name)) ? [] : [['X-API-Key', key] as const]
  const answer = await send(service, {
    method,
    target,
    fields: [['User-Agent', randomUUID()], ...others, ...fields],
  })
  if (answer === null) throw new Error(`${method} ${target} was not answered`)
  tried += 1
  if (isOurs(answer) && answer.status >= 500) failed += 1
  return answer
}

/** Whether an answer is a Worker's: theirs are JSON, whatever went wrong. */
const isOurs = (answer: Heard): boolean => fieldOf(answer, 'content-type') === 'application/json'

test('every method that workerd knows is 405 but GET and HEAD, on every endpoint', async () => {
  const methods = [
    ...'POST PUT PATCH DELETE OPTIONS TRACE PURGE PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK'.split(' '),
    ...'MERGE REPORT MKACTIVITY CHECKOUT SEARCH MSEARCH NOTIFY SUBSCRIBE UNSUBSCRIBE ACL QUERY'.split(' '),
  ]
  for (const path of [...endpoints.map(({ path }) => path), '/openapi.json']) {
    for (const method of methods) {
      const answer = await ask(method, BASE + path, [['Content-Length', '0']])
      expectHarmless(answer)
      expect([method, answer.status, fieldOf(answer, 'allow')]).toEqual([method, 405, 'GET, HEAD'])
    }
  }
})

test('a key counts when it is sent once, and never two joined', async () => {
  for (const [fields, status] of [
    [[['x-api-key', key]], 200],
    [[['X-API-Key', `\t  ${key}`]], 200],
    [
      [
        ['X-API-Key', key],
        ['X-API-Key', key],
      ],
      401,
    ],
    [
      [
        ['X-API-Key', 'bad'],
        ['X-API-Key', key],
      ],
      401,
    ],
    [
      [
        ['X-API-Key', ''],
        ['x-api-key', key],
      ],
      401,
    ],
    [[['X-API-Key', `${key},${key}`]], 401],
    [[['X-API-Key', '\xff'.repeat(73)]], 401],
    [[['X-API-Key', `${key}\xa0`]], 401],
    [[['X-API-Key', '9'.repeat(65_536)]], 401],
  ] as const) {
    const answer = await ask('GET', `${BASE}/brands`, fields)
    expectHarmless(answer)
    expect(answer.status, JSON.stringify(fields).slice(0, 300)).toBe(status)
  }
})

test('targets and headers of many KiB are answered like short ones', async () => {
  const { key: its, brandId } = await tenant(db)
  for (const size of [8_192, 16_384, 65_536]) {
    const long = 'x'.repeat(size)
    for (const [status, target, fields] of [
      [404, `/${long}`, []],
      [404, `${BASE}/${long}`, []],
      [404, `${BASE}/${'../../'.repeat(size / 4)}`, []],
      [404, `${BASE}/${'%2e%2e/'.repeat(size / 8)}x`, []],
      [200, `${BASE}/visibility?brandId=${brandId}&${long}`, []],
      [200, `${BASE}/visibility?${'%00=%ff&'.repeat(size / 8)}brandId=${brandId}`, []],
      [400, `${BASE}/visibility?brandId=${long}`, []],
      [400, `${BASE}/visibility?${'brandId=&'.repeat(size / 9)}`, []],
      [400, `${BASE}/visibility?brandId=${brandId}&cursor=c${long}`, []],
      [400, `${BASE}/visibility?brandId=${brandId}&fromDate=${'9'.repeat(size)}`, []],
      ...['User-Agent', 'If-None-Match', 'CF-Connecting-IP', 'Accept', 'Referer', 'X-Other'].map(
        (name) => [200, `${BASE}/visibility?brandId=${brandId}`, [[name, long] as const]] as const,
      ),
      [200, `${BASE}/visibility?brandId=${brandId}`, [['Cookie', `session=${randomUUID()}${long}`]]],
      [200, `${BASE}/visibility?brandId=${brandId}`, [['CF-Connecting-IP', ':'.repeat(size)]]],
    ] as const) {
      const answer = await ask('GET', target, [...fields, ['X-API-Key', its]])
      expectHarmless(answer)
      expect(answer.status, `${target.slice(0, 80)} ${fields[0]?.[0]} of ${size}`).toBe(status)
    }
  }
})
