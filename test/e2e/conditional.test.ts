import { describe, expect, test } from 'vitest'
import { call } from '../support/call.ts'
import { clearOfEnd, DAY, daysAgo } from '../support/clock.ts'
import { fillDaily } from '../support/daily.ts'
import { findEndpoints } from '../support/endpoints.ts'
import { expectError } from '../support/expect-error.ts'
import { tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'

const db = database()
const endpoints = await findEndpoints()

// Every metric sends its pages through the same code.
const some = endpoints.filter(({ name, paged }) => !paged || name === 'sentiment')

describe.each(some)('If-None-Match at $path', ({ name, path, paged }) => {
  async function firstResponse() {
    const its = await tenant(db)
    if (paged) await fillDaily(db, { name, brandId: its.brandId, rows: 2, first: '2026-10-01', days: 2 })
    const query = paged ? { brandId: its.brandId, fromDate: '2026-10-01', toDate: '2026-10-31' } : {}
    const again = (tag: string) => call(path, { key: its.key, query, headers: { 'If-None-Match': tag } })
    const { status, headers } = await call(path, { key: its.key, query })
    const tag = headers.get('ETag') ?? ''
    expect([status, tag]).toEqual([200, expect.stringMatching(/^"[!#-~]+"$/)])
    return { its, tag, again }
  }

  test('returns 304 for the current ETag, and consumes the budget', async () => {
    const { tag, again } = await firstResponse()
    const { status, text, headers } = await again(tag)
    expect([status, text, headers.get('ETag')]).toEqual([304, '', tag])
    expect(headers.get('RateLimit')).toMatch(/^"default";r=99;/)
    expect((await again('"another"')).status).toBe(200)
  })

  test('returns 200 when the rows have changed', async () => {
    const { its, tag, again } = await firstResponse()
    if (paged)
      await fillDaily(db, { name, brandId: its.brandId, rows: 1, first: '2026-10-03', days: 1, from: 3 })
    else await db.query(`update brands set name = 'Renamed' where id = $1`, [its.brandId])
    const { status, headers } = await again(tag)
    expect(status).toBe(200)
    expect(headers.get('ETag')).not.toBe(tag)
  })

  test('returns 401 and 403 like any request', async () => {
    const { its, tag, again } = await firstResponse()
    await db.query(`update subscriptions set status = 'canceled' where organization_id = $1`, [its.org.id])
    for (const sent of [tag, '*']) expectError(await again(sent), 403)
    await db.query('update api_keys set revoked_at = now() where id = $1', [its.keyId])
    for (const sent of [tag, '*']) expectError(await again(sent), 401)
    expect((await again(tag)).headers.get('ETag')).toBeNull()
  })
})

describe.each(some.filter(({ paged }) => paged))('a page of $path', ({ path }) => {
  test('has an ETag only when its window ended before today', async () => {
    await clearOfEnd(DAY, 5_000)
    const { key, brandId } = await tenant(db)
    const tagged = async (toDate?: string) => {
      const { headers } = await call(path, { key, query: { brandId, fromDate: daysAgo(3), toDate } })
      return headers.has('ETag')
    }
    expect(await tagged(daysAgo(1))).toBe(true)
    for (const open of [daysAgo(0), daysAgo(-1), undefined]) expect(await tagged(open), open).toBe(false)
  })
})

test('returns 304 for the ETag of the OpenAPI document, to every client', async () => {
  const { headers } = await call('/openapi.json')
  const tag = headers.get('ETag') ?? ''
  expect(tag).toMatch(/^"[!#-~]+"$/)
  for (let caller = 0; caller < 2; caller += 1) {
    const again = await call('/openapi.json', { headers: { 'If-None-Match': tag } })
    expect([again.status, again.text, again.headers.get('ETag')]).toEqual([304, '', tag])
  }
  expect((await call('/openapi.json', { headers: { 'If-None-Match': '"another"' } })).status).toBe(200)
})
