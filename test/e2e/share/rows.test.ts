import { beforeAll, describe, expect, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import { call, pull, type Row } from '../../fixtures/call.ts'
import { clearOfMidnight, daysAgo } from '../../fixtures/clock.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { answer, brand, place, prompt, refresh } from '../../fixtures/rows.ts'
import { addDays, answeredDays, type Scene } from '../../fixtures/scene.ts'
import { objectsOf, rowsOf, startShare } from '../../fixtures/share.ts'
import { type Tenant, tenant } from '../../fixtures/tenant.ts'

const { db, service, publish, publishPeriods, query } = await startShare()

const METRICS = readStreams().filter(({ kind }) => kind === 'metric')

/** Rows without regard to their order. */
const sorted = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row)).sort()

/** The rows that an endpoint's pages have of brands, with `brand_id` as in the share. */
async function rowsOfPages(endpoint: string, key: string, brandIds: readonly string[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const brandId of brandIds) {
    const dates = { fromDate: '0001-01-01', toDate: '9999-12-31' }
    const pages = await pull(`/${endpoint}`, { service: service.url, key, query: { brandId, ...dates } })
    rows.push(...pages.map((row) => ({ brand_id: brandId, ...row })))
  }
  return rows
}

/** Expects every table to have the rows of the pages, and returns their number. */
async function expectPages(key: string, brandIds: readonly string[]): Promise<number> {
  let rows = 0
  for (const { name, endpoint } of METRICS) {
    const shared = await rowsOf(await query(key, name))
    expect(sorted(shared), name).toEqual(sorted(await rowsOfPages(endpoint, key, brandIds)))
    rows += shared.length
  }
  return rows
}

type Span = readonly [first: string, last: string]

/** The first and last day of each file of a table, in order. */
const spansOf = async (key: string, table: string, body = {}): Promise<Span[]> =>
  objectsOf(await query(key, table, body))
    .map(({ stats }): Span => {
      const { minValues, maxValues } = JSON.parse(stats)
      return [minValues.date, maxValues.date]
    })
    .sort()

/** Replaces what tables have of a brand's days by a row a day, or by none. The rows of another `from` are other rows. */
async function fill(
  brandId: string,
  { metrics = METRICS, first, days = 1, from = 1, isEmpty = false }: Filling,
): Promise<void> {
  const last = addDays(first, days - 1)
  for (const { name, endpoint } of metrics) {
    await db.query(`delete from daily.${name} where brand_id = $1 and date between $2 and $3`, [
      ...[brandId, first, last],
    ])
    if (!isEmpty) await fillDaily(db, { name: endpoint, brandId, rows: days, first, days, from })
  }
  await db.query(
    `select daily.list_changes(array_agg(metric), array_agg($1::uuid), array_agg(day::date), array_agg(jsonb '["answers"]'))
     from unnest($2::text[]) as metric, generate_series($3::date, $4::date, interval '1 day') as day`,
    [brandId, metrics.map(({ name }) => name), first, last],
  )
}

const subscribe = ({ org }: Tenant, plan: string) =>
  db.query('update subscriptions set plan = $1 where organization_id = $2', [plan, org.id])

type Filling = {
  readonly metrics?: readonly { readonly name: string; readonly endpoint: string }[]
  readonly first: string
  readonly days?: number
  readonly from?: number
  readonly isEmpty?: boolean
}

describe('two brands', () => {
  let its: Scene
  let second: string

  beforeAll(async () => {
    its = await answeredDays(db, { first: '2026-10-01', days: 3 })
    second = await brand(db, its.org, { name: 'Čapek, "Ω" & 日本 😀', industry: '' })
    const said = { ...(await place(db)), prompt: await prompt(db, second) }
    for (let number = 0; number < 30; number += 1)
      await answer(db, {
        ...said,
        at: '2026-10-02T23:59:59.999Z',
        mentions: number % 3 === 0 ? ['Čapek, "Ω" & 日本 😀'] : [],
        citations: [
          { url: `https://site.example/${'ü'.repeat(number)}?a="b",\\`, domain: number % 2 ? null : '' },
          { url: 'https://site.example/', owned: number === 7 },
        ],
        phrases: [{ polarity: 'neutral', confidence: '0.3333' }],
        judged: [{ competitor: null, recommended: number % 7 === 0 }],
      })
    await refresh(db)
    await publish()
  })

  test('every table has the rows of the pages', async () => {
    expect(await expectPages(its.key, [its.brandId, second])).toBe(3 * 7 + 1 + 31 + 31 + 1 + 1)
    const { data: brands } = await call('/brands', { service: service.url, key: its.key })
    const shared = await rowsOf(await query(its.key, 'brands'))
    expect(sorted(shared)).toEqual(sorted(brands.map((row) => ({ brand_id: row.id ?? null, ...row }))))
  })

  test('a file tells its rows, its brand and its days', async () => {
    const stats = objectsOf(await query(its.key, 'visibility')).map((file) => JSON.parse(file.stats))
    const statsOf = (brand_id: string, numRecords: number, [first, last]: Span) => ({
      numRecords,
      minValues: { brand_id, date: first },
      maxValues: { brand_id, date: last },
    })
    expect(stats).toHaveLength(2)
    expect(stats).toEqual(
      expect.arrayContaining([
        statsOf(its.brandId, 3, ['2026-10-01', '2026-10-31']),
        statsOf(second, 1, ['2026-10-02', '2026-10-02']),
      ]),
    )
  })
})

describe('a table with rows on every day of more than a year', () => {
  const DAYS = 400
  const metrics = METRICS.filter(({ name }) => name === 'sentiment')
  let its: Tenant

  beforeAll(async () => {
    await clearOfMidnight(120_000)
    its = await tenant(db)
    await fill(its.brandId, { metrics, first: daysAgo(DAYS - 1), days: DAYS })
    await publish()
  })

  test.each([
    ['pro', 90],
    ['agency', 180],
    ['enterprise', DAYS - 1],
  ])('the plan %s reads every day from its clamp on and no day before it, in few files', async (plan, days) => {
    await subscribe(its, plan)
    const clamp = daysAgo(days)
    expect(await expectPages(its.key, [its.brandId])).toBe(days + 1)
    const spans = await spansOf(its.key, 'sentiment')
    expect(spans.length).toBeLessThanOrEqual(40)
    if (plan === 'enterprise') return
    expect(spans.filter(([first]) => first < clamp)).toEqual([])
    const before = { predicateHints: [`date = '${addDays(clamp, -1)}'`] }
    expect(await spansOf(its.key, 'sentiment', before)).toEqual([])
  })

  test('a change in a month takes its thirds in place of it, until it is written again', async () => {
    await subscribe(its, 'enterprise')
    const month = `${daysAgo(300).slice(0, 7)}-01`
    const end = addDays(`${addDays(month, 31).slice(0, 7)}-01`, -1)
    const spans = async (body = {}) =>
      (await spansOf(its.key, 'sentiment', body)).filter(([first]) => first >= month && first <= end)
    const thirds: Span[] = [
      [month, addDays(month, 9)],
      [addDays(month, 10), addDays(month, 19)],
      [addDays(month, 20), end],
    ]
    const changed = addDays(month, 4)
    const before = await query(its.key, 'sentiment')
    expect(await spans()).toEqual([[month, end]])

    await fill(its.brandId, { metrics, first: changed, from: 1000 })
    await publish()
    expect(await spans()).toEqual(thirds)
    await expectPages(its.key, [its.brandId])
    const { version } = before
    expect(await spans({ version })).toEqual([[month, end]])
    expect(sorted(await rowsOf(await query(its.key, 'sentiment', { version })))).toEqual(
      sorted(await rowsOf(before)),
    )

    await publishPeriods()
    expect(await spans()).toEqual([[month, end]])
    await expectPages(its.key, [its.brandId])

    await fill(its.brandId, { metrics, first: changed, isEmpty: true })
    await publish()
    expect(await spans()).toEqual(thirds)
    await expectPages(its.key, [its.brandId])
  })
})

test('100 days of two brands, the open month included, are at most 100 objects of six tables', async () => {
  await clearOfMidnight(60_000)
  const its = await tenant(db)
  const brands = [its.brandId, await brand(db, its.org)]
  for (const brandId of brands) await fill(brandId, { first: daysAgo(99), days: 100 })
  await publish()
  let files = 0
  for (const { name } of METRICS) files += (await spansOf(its.key, name)).length
  expect(METRICS).toHaveLength(6)
  expect(files).toBeLessThanOrEqual(100)
  await subscribe(its, 'pro')
  expect(await expectPages(its.key, brands)).toBe(2 * 6 * 91)
})

test('a query names many thousand files', async () => {
  const { key, brandId } = await answeredDays(db, { first: '2026-10-01', days: 1 })
  await db.query(
    `insert into daily.objects (id, metric, brand_id, period, first, last, digest, rows, bytes, added)
     select gen_random_uuid(), 'sentiment', $1, 'day', date '1900-01-01' + day, date '1900-01-01' + day, '', 1, 1,
       (select max(version) from daily.versions)
     from generate_series(1, 20000) as day`,
    [brandId],
  )
  expect(objectsOf(await query(key, 'sentiment'))).toHaveLength(20_000)
})
