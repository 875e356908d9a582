import { expect, test } from 'vitest'
import { call } from '../fixtures/call.ts'
import { clearOfMidnight, daysAgo } from '../fixtures/clock.ts'
import { findEndpoints } from '../fixtures/endpoints.ts'
import { expectError } from '../fixtures/expect-error.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { database } from '../fixtures/rows.ts'
import { tenant } from '../fixtures/tenant.ts'

const db = database()
const endpoints = await findEndpoints()

// Every metric sends its pages through the same code.
const some = endpoints.filter(({ name, kind }) => kind === 'brands' || name === 'sentiment')

// If-None-Match in full: test/unit/etag.test.ts and test/unit/app.test.ts.
test.each(some)('$path returns 304 until its rows change, and 401 and 403 as for any request', async ({
  name,
  path,
  kind,
}) => {
  const { brandId, key, keyId, org } = await tenant(db)
  const paged = kind !== 'brands'
  if (paged) await fillDaily(db, { name, brandId, rows: 2, first: '2026-10-01', days: 2 })
  const query = paged ? { brandId, fromDate: '2026-10-01', toDate: '2026-10-31' } : {}
  const again = (tag: string) => call(path, { key, query, headers: { 'If-None-Match': tag } })
  const tag = (await call(path, { key, query })).headers.get('ETag') ?? ''
  expect(tag).toMatch(/^"[!#-~]+"$/)
  const unchanged = await again(tag)
  expect([unchanged.status, unchanged.text, unchanged.headers.get('ETag')]).toEqual([304, '', tag])
  expect(unchanged.headers.get('RateLimit')).toMatch(/^"default";r=99;/)

  if (paged) await fillDaily(db, { name, brandId, rows: 1, first: '2026-10-03', days: 1, from: 3 })
  else await db.query(`update brands set name = 'Renamed' where id = $1`, [brandId])
  const changed = await again(tag)
  expect([changed.status, changed.headers.get('ETag') === tag]).toEqual([200, false])

  await db.query(`update subscriptions set status = 'canceled' where organization_id = $1`, [org.id])
  for (const sent of [tag, '*']) expectError(await again(sent), 403)
  await db.query('update api_keys set revoked_at = now() where id = $1', [keyId])
  for (const sent of [tag, '*']) expectError(await again(sent), 401)
  expect((await again(tag)).headers.get('ETag')).toBeNull()
})

test('a page has an ETag only when its window ended before today', async () => {
  await clearOfMidnight(5_000)
  const { key, brandId } = await tenant(db)
  const tagged = async (toDate?: string) => {
    const { headers } = await call('/sentiment', { key, query: { brandId, fromDate: daysAgo(3), toDate } })
    return headers.has('ETag')
  }
  expect(await tagged(daysAgo(1))).toBe(true)
  for (const open of [daysAgo(0), daysAgo(-1), undefined]) expect(await tagged(open), open).toBe(false)
})
