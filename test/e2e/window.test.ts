import { beforeAll, describe, expect, test } from 'vitest'
import { call } from '../support/call.ts'
import { clearOfEnd, DAY, daysAgo } from '../support/clock.ts'
import { fillDaily } from '../support/daily.ts'
import { type Tenant, tenant } from '../support/tenant.ts'
import { database } from '../support/world.ts'

const db = database()

beforeAll(() => clearOfEnd(DAY, 60_000), 90_000)

type Dates = { readonly fromDate?: string; readonly toDate?: string }

const read = ({ key, brandId }: Tenant, dates: Dates = {}) =>
  call('/sentiment', { key, query: { brandId, ...dates } })

/** Gives a brand a row on each of some days. */
async function rowsOn({ brandId }: Tenant, days: readonly string[]): Promise<void> {
  for (const first of days) await fillDaily(db, { name: 'sentiment', brandId, rows: 1, first, days: 1 })
}

async function datesOf(its: Tenant, dates: Dates = {}): Promise<unknown[]> {
  return (await read(its, dates)).data.map(({ date }) => date)
}

describe('without dates', () => {
  test('reads the last 30 days up to the time of the request, and says so in meta', async () => {
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

  test.each(['pro', 'agency', 'enterprise'])('names the plan %s', async (plan) => {
    const { meta } = await read(await tenant(db, { plan }))
    expect(meta).toMatchObject({ plan, fromDate: `${daysAgo(30)}T00:00:00.000Z` })
  })
})

describe('with dates', () => {
  test('reads both ends, and nothing beyond them', async () => {
    const its = await tenant(db)
    await rowsOn(its, ['2026-09-30', '2026-10-01', '2026-10-02', '2026-10-03', '2026-10-04'])
    const dates = { fromDate: '2026-10-01', toDate: '2026-10-03' }
    const { meta, data } = await read(its, dates)
    expect(data.map(({ date }) => date)).toEqual(['2026-10-01', '2026-10-02', '2026-10-03'])
    expect(meta).toMatchObject({ fromDate: '2026-10-01T00:00:00.000Z', toDate: '2026-10-03T23:59:59.999Z' })
    expect(await datesOf(its, { fromDate: '2026-10-02', toDate: '2026-10-02' })).toEqual(['2026-10-02'])
  })

  test('a start alone reads up to now, an end alone from 30 days ago', async () => {
    const its = await tenant(db)
    await rowsOn(its, [daysAgo(40), daysAgo(30), daysAgo(10), daysAgo(5), daysAgo(-1)])
    expect(await datesOf(its, { fromDate: daysAgo(40) })).toEqual([
      daysAgo(40),
      daysAgo(30),
      daysAgo(10),
      daysAgo(5),
    ])
    expect(await datesOf(its, { toDate: daysAgo(10) })).toEqual([daysAgo(30), daysAgo(10)])
  })

  test('an end alone that lies before the default start is 200 without rows', async () => {
    const its = await tenant(db)
    await rowsOn(its, [daysAgo(40)])
    const { status, data, meta } = await read(its, { toDate: daysAgo(40) })
    expect([status, data]).toEqual([200, []])
    expect(meta).toMatchObject({
      fromDate: `${daysAgo(30)}T00:00:00.000Z`,
      toDate: `${daysAgo(40)}T23:59:59.999Z`,
    })
  })

  test('a start in the future without an end is 200 without rows', async () => {
    const its = await tenant(db)
    await rowsOn(its, [daysAgo(0), daysAgo(-1), daysAgo(-2)])
    for (const fromDate of [daysAgo(-1), '9999-12-31']) {
      const { status, data, meta, pagination } = await read(its, { fromDate })
      expect([status, data]).toEqual([200, []])
      expect(pagination).toEqual({ pageSize: 1000, hasMore: false, nextCursor: null })
      expect(meta.fromDate).toBe(`${fromDate}T00:00:00.000Z`)
      expect(meta.toDate?.slice(0, 10)).toBe(daysAgo(0))
    }
  })

  test('an end in the future is kept as it was requested', async () => {
    const { status, meta } = await read(await tenant(db), { toDate: daysAgo(-7) })
    expect([status, meta.toDate]).toEqual([200, `${daysAgo(-7)}T23:59:59.999Z`])
  })
})

describe.each([
  ['pro', 90],
  ['agency', 180],
] as const)('a %s key', (plan, lookback) => {
  test(`is clamped to ${lookback} days without an error, and told in meta.fromDate`, async () => {
    const its = await tenant(db, { plan })
    await rowsOn(its, [daysAgo(lookback + 1), daysAgo(lookback), daysAgo(lookback - 1)])
    const covered = [daysAgo(lookback), daysAgo(lookback - 1)]
    for (const fromDate of [daysAgo(lookback + 1), '2020-01-01', '0001-01-01']) {
      const { status, data, meta } = await read(its, { fromDate })
      expect([status, data.map(({ date }) => date)]).toEqual([200, covered])
      expect(meta).toMatchObject({ plan, fromDate: `${daysAgo(lookback)}T00:00:00.000Z` })
    }
    expect(await datesOf(its, { fromDate: daysAgo(lookback) })).toEqual(covered)
    expect(await datesOf(its, { fromDate: daysAgo(lookback - 1) })).toEqual(covered.slice(1))
  })

  test('gets no rows of a window that ends before the clamp', async () => {
    const its = await tenant(db, { plan })
    await rowsOn(its, [daysAgo(lookback + 2), daysAgo(lookback + 1), daysAgo(lookback)])
    const { status, data, meta } = await read(its, {
      fromDate: daysAgo(lookback + 2),
      toDate: daysAgo(lookback + 1),
    })
    expect([status, data]).toEqual([200, []])
    expect(meta).toMatchObject({
      fromDate: `${daysAgo(lookback)}T00:00:00.000Z`,
      toDate: `${daysAgo(lookback + 1)}T23:59:59.999Z`,
    })
  })
})

test('an enterprise key reads all of history', async () => {
  const its = await tenant(db)
  await rowsOn(its, ['0001-01-01', '1999-12-31', daysAgo(181)])
  const { data, meta } = await read(its, { fromDate: '0001-01-01' })
  expect(data.map(({ date }) => date)).toEqual(['0001-01-01', '1999-12-31', daysAgo(181)])
  expect(meta.fromDate).toBe('0001-01-01T00:00:00.000Z')
})
