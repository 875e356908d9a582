import { beforeAll, describe, expect, inject, test } from 'vitest'
import { signCursor } from '../../lib/page/cursor.ts'
import { EVERY_DAY, resolveWindow } from '../../lib/statement/window.ts'
import { call, pull, type Row } from '../fixtures/call.ts'
import { clearOfMidnight, daysAgo } from '../fixtures/clock.ts'
import { expectError } from '../fixtures/expect-error.ts'
import { database, insert } from '../fixtures/rows.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

// What writes the changes: test/e2e/sql/changes.test.ts. Runs through more pages: test/e2e/paging.test.ts.

const db = database()
beforeAll(() => clearOfMidnight(60_000))

const [AT_1, AT_2, AT_3] = [
  '2026-11-01T05:59:59.999999Z',
  '2026-11-01T06:00:00.000000Z',
  '2026-11-02T04:31:07.123450Z',
] as const

/** Columns that /changes does not send. */
const UNUSED = { bytes: 0, first_changed_at: '', batch: 1 }

/** The digest of a day without rows. */
const NO_ROWS = '000000000000000'

type Change = { readonly endpoint?: string; readonly date: string; readonly at?: string }

/** Lists changes of a brand. */
const list = ({ brandId }: Tenant, changes: readonly Change[]) =>
  insert(
    db,
    'daily.changes',
    changes.map(({ endpoint = 'visibility', date, at = AT_1 }) => ({
      brand_id: brandId,
      endpoint,
      date,
      rows: 1,
      totals: '{"total_prompts": 10, "visible_count": 6}',
      digest: NO_ROWS,
      causes: JSON.stringify({ answers: at }),
      changed_at: at,
      ...UNUSED,
    })),
  )

type Query = Readonly<Record<string, string | undefined>>

const options = ({ key, brandId }: Tenant, query: Query = {}) => ({
  key,
  query: { brandId, ...query },
})

const read = (its: Tenant, query?: Query) => call('/changes', options(its, query))

const datesOf = (rows: readonly Row[]) => rows.map(({ date }) => date)

test('a row has totals, digest and causes as they are stored, and the time with microseconds', async () => {
  const its = await tenant(db)
  const totals = '{"negative_weight": 0.0000, "positive_mentions": 0}'
  const digest = '0123456789abcde'
  const causes = `{"answers":"${AT_1}","sentiment":"${AT_3}"}`
  await insert(db, 'daily.changes', [
    {
      brand_id: its.brandId,
      endpoint: 'sentiment',
      date: '2026-10-01',
      rows: 0,
      totals,
      digest,
      causes,
      changed_at: AT_3,
      ...UNUSED,
    },
  ])
  const { text } = await read(its)
  const row = `{"brand_id":"${its.brandId}","endpoint":"sentiment","date":"2026-10-01","rows":0,"totals":${totals},"digest":"${digest}","causes":${causes},"changed_at":"${AT_3}"}`
  expect(text).toMatch(/^\{"data":\[(.*)\],"pagination":/)
  expect(/"data":\[(.*)\],"pagination"/.exec(text)?.[1]).toBe(row)
})

const ORDERED = [
  ['citation-share', '2026-10-03', AT_1],
  ['citations', '2026-10-01', AT_1],
  ['citations', '2026-10-02', AT_1],
  ['visibility', '2020-01-01', AT_1],
  ['citations', '2026-10-03', AT_2],
  ['citation-share', '2026-10-01', AT_3],
] as const
const changes = ORDERED.map(([endpoint, date, at]) => ({ endpoint, date, at }))
const CURSOR_SECRET = inject('cursorSecret')

test('the order of rows is the time, the endpoint by code point, the date, at every place where a page can end', async () => {
  const its = await tenant(db)
  await list(its, changes.toReversed())
  const keyOf = ({ endpoint, date, changed_at }: Row) => [endpoint, date, changed_at]
  expect((await read(its)).data.map(keyOf)).toEqual(ORDERED)
  const window = resolveWindow(EVERY_DAY, 'enterprise', new Date())
  for (const [index, { endpoint, date, at }] of changes.entries()) {
    const cursor = await signCursor(
      { window, organizationId: null, after: [at, endpoint, date] },
      { endpoint: '/changes', brandId: its.brandId },
      [CURSOR_SECRET],
    )
    expect((await read(its, { cursor })).data.map(keyOf)).toEqual(ORDERED.slice(index + 1))
  }
})
describe('since', () => {
  test('lists later changes only, to the microsecond', async () => {
    const its = await tenant(db)
    await list(its, [
      { date: '2026-10-01', at: AT_1 },
      { date: '2026-10-02', at: AT_2 },
      { date: '2026-10-03', at: AT_3 },
    ])
    const listed = async (since: string) => datesOf((await read(its, { since })).data)
    expect(await listed('2026-11-01T05:59:59.999998Z')).toEqual(['2026-10-01', '2026-10-02', '2026-10-03'])
    expect(await listed(AT_1)).toEqual(['2026-10-02', '2026-10-03'])
    expect(await listed(AT_2)).toEqual(['2026-10-03'])
    expect(await listed(AT_3)).toEqual([])
    // Other forms of an instant: test/unit/parameters.test.ts.
    expect(await listed('2026-11-01T07:00:00+01:00')).toEqual(['2026-10-03'])
    expect(datesOf((await read(its, { since: AT_1, fromDate: '2026-10-03' })).data)).toEqual(['2026-10-03'])
    expect((await read(its, { since: AT_2, toDate: '2026-10-02' })).data).toEqual([])
  })

  test('is kept by all pages of a run, in which one time spans pages', async () => {
    const its = await tenant(db)
    await list(its, [{ endpoint: 'sentiment', date: '2026-10-01', at: AT_1 }])
    const dates = Array.from({ length: 1500 }, (_, day) => daysAgo(1500 - day))
    await list(
      its,
      dates.map((date) => ({ date, at: AT_2 })),
    )
    expect(datesOf(await pull('/changes', options(its, { since: AT_1 })))).toEqual(dates)

    const { pagination, headers } = await read(its, { since: AT_1 })
    const cursor = pagination.nextCursor ?? ''
    for (const since of [undefined, AT_2]) expectError(await read(its, { since, cursor }), 400)
    expect(headers.get('Link')).toContain(`&since=${encodeURIComponent(AT_1)}&`)
  })
})

// In full: test/unit/window.test.ts.
test('the window is of every day, those to come as well, unless the request bounds it', async () => {
  const its = await tenant(db)
  const dates = ['0001-01-01', daysAgo(91), daysAgo(90), daysAgo(89), daysAgo(-400), '9999-12-31']
  await list(
    its,
    dates.map((date) => ({ date })),
  )
  const { data, meta, headers } = await read(its)
  expect(headers.get('X-Window')).toBe('0001-01-01/..')
  expect(datesOf(data)).toEqual(dates)
  expect(meta).toMatchObject({ fromDate: '0001-01-01T00:00:00.000Z', toDate: '9999-12-31T23:59:59.999Z' })
  const bounded = await read(its, { fromDate: daysAgo(91), toDate: daysAgo(89) })
  expect(datesOf(bounded.data)).toEqual(dates.slice(1, 4))
})
