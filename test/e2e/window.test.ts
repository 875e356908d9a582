import { beforeAll, expect, test } from 'vitest'
import { PARAMETER_ERRORS } from '../../lib/request/errors.ts'
import { call } from '../fixtures/call.ts'
import { clearOfMidnight, daysAgo } from '../fixtures/clock.ts'
import { fillDaily } from '../fixtures/fill-daily.ts'
import { database } from '../fixtures/rows.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

const db = database()

beforeAll(() => clearOfMidnight(60_000), 90_000)

type Dates = { readonly fromDate?: string; readonly toDate?: string }

const read = ({ key, brandId }: Tenant, dates: Dates = {}) =>
  call('/sentiment', { key, query: { brandId, ...dates } })

/** Gives a brand a row on each of some days. */
async function rowsOn({ brandId }: Tenant, days: readonly string[]): Promise<void> {
  for (const first of days) await fillDaily(db, { name: 'sentiment', brandId, rows: 1, first, days: 1 })
}

// lib/statement/window.ts is tested in full in test/unit/window.test.ts; here is that its result selects the rows and is in `meta`.

test('without dates a page covers the last 30 days up to the time of the request', async () => {
  const its = await tenant(db)
  await rowsOn(its, [daysAgo(31), daysAgo(30), daysAgo(0), daysAgo(-1)])
  const before = Date.now()
  const { meta, data } = await read(its)
  const after = Date.now()
  expect(data.map(({ date }) => date)).toEqual([daysAgo(30), daysAgo(0)])
  expect(meta).toEqual({
    brandId: its.brandId,
    fromDate: `${daysAgo(30)}T00:00:00.000Z`,
    toDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    plan: 'enterprise',
  })
  const end = Date.parse(meta.toDate ?? '')
  expect(before <= end && end <= after).toBe(true)
})

test('a key of the pro plan reads 90 days, without an error', async () => {
  const its = await tenant(db, { plan: 'pro' })
  await rowsOn(its, [daysAgo(91), daysAgo(90), daysAgo(89)])
  const { status, data, meta, headers } = await read(its, { fromDate: '0001-01-01' })
  expect([status, data.map(({ date }) => date)]).toEqual([200, [daysAgo(90), daysAgo(89)]])
  expect(meta).toMatchObject({ plan: 'pro', fromDate: `${daysAgo(90)}T00:00:00.000Z` })
  expect(headers.get('X-Window')).toBe(`${daysAgo(90)}/${daysAgo(0)}`)
  for (const format of ['csv', 'ndjson']) {
    const query = { brandId: its.brandId, fromDate: '0001-01-01', toDate: '9999-12-31', format }
    const file = await call('/sentiment', { key: its.key, query, method: 'HEAD' })
    expect(file.headers.get('X-Window')).toBe(`${daysAgo(90)}/9999-12-31`)
  }
})

test('a toDate alone before the default start is 400 and asks for fromDate', async () => {
  const its = await tenant(db)
  const refused = await read(its, { toDate: daysAgo(31) })
  expect([refused.status, refused.error]).toEqual([400, PARAMETER_ERRORS.lacksFromDate])
  await rowsOn(its, [daysAgo(30)])
  expect((await read(its, { toDate: daysAgo(30) })).data).toHaveLength(1)
})
