import { beforeAll, describe, expect, test } from 'vitest'
import { readStreams } from '../../../site/reference/streams.ts'
import { call, pull, type Row } from '../../fixtures/call.ts'
import { clearOfMidnight, daysAgo } from '../../fixtures/clock.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { answer, brand, place, prompt, refresh } from '../../fixtures/rows.ts'
import { answeredDays, type Scene } from '../../fixtures/scene.ts'
import { objectsOf, rowsOf, startShare } from '../../fixtures/share.ts'
import { type Tenant, tenant } from '../../fixtures/tenant.ts'

const { db, service, publish, query } = await startShare()

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

/** The first and last day of each file of sentiment, in order. */
const spansOf = async (key: string): Promise<Span[]> =>
  objectsOf(await query(key, 'sentiment'))
    .map(({ stats }): Span => {
      const { minValues, maxValues } = JSON.parse(stats)
      return [minValues.date, maxValues.date]
    })
    .sort()

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
  let its: Tenant

  beforeAll(async () => {
    await clearOfMidnight(120_000)
    its = await tenant(db)
    const first = daysAgo(DAYS - 1)
    await fillDaily(db, { name: 'sentiment', brandId: its.brandId, rows: DAYS, first, days: DAYS })
    await db.query(`select daily.relist('sentiment', $1)`, [its.brandId])
    await publish()
  })

  test.each([
    ['pro', 90],
    ['agency', 180],
    ['enterprise', DAYS - 1],
  ])('the plan %s reads every day from its clamp on and no day before it, in few files', async (plan, days) => {
    await db.query('update subscriptions set plan = $1 where organization_id = $2', [plan, its.org.id])
    const clamp = daysAgo(days)
    expect(await expectPages(its.key, [its.brandId])).toBe(days + 1)
    const spans = await spansOf(its.key)
    expect(spans.length).toBeLessThanOrEqual(40)
    if (plan === 'enterprise') return
    expect(spans.filter(([first]) => first < clamp)).toEqual([])
  })
})

describe('a query names the files', () => {
  let its: Scene
  let other: string

  /** Lists days of a brand as files. */
  const list = (brandId: string, ...days: readonly string[]) =>
    db.query(
      `insert into daily.objects (id, metric, brand_id, period, first, last, digest, rows, bytes, added)
       select gen_random_uuid(), 'sentiment', $1, 'day', day, day, '', 1, 1, (select max(version) from daily.versions)
       from unnest($2::date[]) as day`,
      [brandId, days],
    )
  /** The files of a query, as their brand and first day. */
  const named = async (...predicateHints: readonly string[]) =>
    objectsOf(await query(its.key, 'sentiment', { predicateHints }))
      .map(({ stats }) => JSON.parse(stats).minValues)
      .map(({ brand_id, date }) => `${brand_id === other ? 'other' : 'own'} ${date}`)
      .sort()

  beforeAll(async () => {
    its = await answeredDays(db, { first: '2026-09-29', days: 2 })
    other = await brand(db, its.org)
    await refresh(db)
    await publish()
    await list(its.brandId, '2026-10-01', '2026-10-02', '2026-10-03')
    await list(other, '2026-10-01', '2026-10-03')
  })

  test('of brands, and that overlap one of several ranges of days', async () => {
    expect(await named(`sentiment_score > 50`)).toHaveLength(6)
    const days = `date in ('2026-09-30', '2026-10-02', '9999-12-31')`
    expect(await named(days)).toEqual(['own 2026-09-01', 'own 2026-10-02'])
    expect(await named(days, `date > '2026-10-01'`)).toEqual(['own 2026-10-02'])
    expect(await named(`date <= '2026-10-01'`, `date >= '2026-10-02'`)).toEqual([])
    expect(await named(`date in ('2026-08-31', '2026-10-04')`)).toEqual([])
    const ids = `brand_id in ('${other}', '00000000-0000-0000-0000-000000000000')`
    expect(await named(ids, `date = '2026-10-03'`)).toEqual(['other 2026-10-03'])
  })

  test('of brands, whose rows have no days', async () => {
    const predicateHints = [`date > '2026-10-02'`, `date < '2026-10-01'`, `brand_id = '${other}'`]
    expect(objectsOf(await query(its.key, 'brands', { predicateHints }))).toHaveLength(1)
  })
})
