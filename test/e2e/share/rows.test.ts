import { beforeAll, describe, expect, test } from 'vitest'
import { readStreams } from '../../../reference/streams.ts'
import { call, pull, type Row } from '../../fixtures/call.ts'
import { clearOfMidnight, daysAgo } from '../../fixtures/clock.ts'
import { answer, brand, place, prompt, refresh } from '../../fixtures/rows.ts'
import { addDays, answeredDays, type Scene } from '../../fixtures/scene.ts'
import { filesOf, rowsOf, startShare } from '../../fixtures/share.ts'

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

const dayOfStats = ({ stats }: { stats: string }): string[] => {
  const { minValues, maxValues } = JSON.parse(stats)
  return [minValues.date, maxValues.date]
}

const planned = async ({ org }: Scene, plan: string) => {
  await db.query('update subscriptions set plan = $1 where organization_id = $2', [plan, org.id])
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

  test('a file tells its rows, its brand and its days, and hints spare files', async () => {
    const files = filesOf(await query(its.key, 'visibility'))
    expect(files.map(({ stats }) => JSON.parse(stats)).map(({ minValues }) => minValues.date)).toEqual(
      expect.arrayContaining(['2026-10-01', '2026-10-02', '2026-10-03', '2026-10-02']),
    )
    for (const { stats } of files) {
      const { numRecords, minValues, maxValues } = JSON.parse(stats)
      expect(numRecords).toBe(1)
      expect(maxValues).toEqual(minValues)
    }
    const daysOf = async (...predicateHints: string[]) =>
      filesOf(await query(its.key, 'visibility', { predicateHints })).map((file) => dayOfStats(file)[0])
    expect(await daysOf(`date >= '2026-10-02'`, `brand_id = '${its.brandId}'`)).toEqual([
      '2026-10-02',
      '2026-10-03',
    ])
    expect(await daysOf(`date < '2026-10-02'`, `brand_id = '${its.brandId}'`)).toEqual([
      '2026-10-01',
      '2026-10-02',
    ])
    expect(await daysOf(`date = '2026-02-30'`, `brand_id = '${second}'`)).toEqual(['2026-10-02'])
    expect(filesOf(await query(its.key, 'brands', { predicateHints: [`date = '2026-10-02'`] }))).toHaveLength(
      2,
    )
  })
})

describe.each([
  ['pro', 90],
  ['agency', 180],
])('the plan %s', (plan, days) => {
  test('reads every day from its clamp on, and no day before it', async () => {
    await clearOfMidnight(60_000)
    const its = await answeredDays(db, { first: daysAgo(days + 3), days: 6 })
    await publish()
    await planned(its, plan)
    const clamp = daysAgo(days)
    const around = [-3, -2, -1, 0, 1, 2].map((offset) => addDays(clamp, offset))
    const read = async (body = {}) =>
      filesOf(await query(its.key, 'sentiment', body)).map((file) => dayOfStats(file)[0])
    expect(await read()).toEqual(around.slice(3))
    expect(await expectPages(its.key, [its.brandId])).toBe(3 * 5)
    for (const day of around)
      expect(await read({ predicateHints: [`date = '${day}'`] })).toEqual(day < clamp ? [] : [day])

    // The month of the clamp as one set, as a plan with another limit would find it.
    const month = `${clamp.slice(0, 7)}-01`
    await db.query(
      `insert into daily.files (id, set_id, metric, brand_id, first, last, rows, stamp, added)
       select gen_random_uuid(), gen_random_uuid(), 'sentiment', $1, $2, $2::date + interval '1 month - 1 day', 3, '0',
         max(version)
       from daily.versions`,
      [its.brandId, month],
    )
    const withMonth = (found: string[]) =>
      [...found.filter((day) => !day.startsWith(clamp.slice(0, 7))), month].sort()
    expect(await read()).toEqual(month < clamp ? around.slice(3) : withMonth(around.slice(3)))
    await planned(its, 'enterprise')
    expect(await read()).toEqual(withMonth(around))
  })
})

describe('three years', () => {
  const monthsBefore = (months: number): string => {
    const [year = 0, month = 0] = daysAgo(180).split('-').map(Number)
    return new Date(Date.UTC(year, month - 1 - months, 1)).toISOString().slice(0, 10)
  }
  let its: Scene

  beforeAll(async () => {
    await clearOfMidnight(120_000)
    its = await answeredDays(db, { first: '2026-11-01', days: 2 })
    for (let month = 36; month > 0; month -= 1)
      for (const day of [0, 27]) {
        const at = `${addDays(monthsBefore(month), day)}T12:00:00Z`
        await its.say(at, {
          mentions: ['Acme'],
          citations: [{ url: 'https://site.example/' }],
          phrases: [{ polarity: 'negative', confidence: '0.5' }],
          judged: [{ competitor: null, recommended: true }],
        })
      }
    await refresh(db)
  })

  const spans = async (body = {}) => filesOf(await query(its.key, 'sentiment', body)).map(dayOfStats)
  const months = (found: string[][]) => found.filter(([first, last]) => first !== last)

  test('are days until months are written, then 36 months and the days after them', async () => {
    await publish()
    const daily = await spans()
    expect(months(daily)).toHaveLength(0)
    expect(daily).toHaveLength(74)
    const rows = await expectPages(its.key, [its.brandId])

    await publish({ compact: true })
    const monthly = await spans()
    expect(monthly).toHaveLength(36 + 2)
    expect(months(monthly)[0]).toEqual([monthsBefore(36), addDays(monthsBefore(35), -1)])
    expect(await expectPages(its.key, [its.brandId])).toBe(rows)
  })

  test('a change in a month takes its days in place of it, until it is written again', async () => {
    const day = addDays(monthsBefore(20), 5)
    const before = await query(its.key, 'sentiment')
    const id = await its.say(`${day}T12:00:00Z`, { phrases: [{ polarity: 'positive', confidence: '1' }] })
    await refresh(db)
    await publish()
    const changed = await spans()
    expect(months(changed)).toHaveLength(35)
    expect(changed).toHaveLength(35 + 3 + 2)
    await expectPages(its.key, [its.brandId])
    expect(await spans({ version: before.version })).toHaveLength(36 + 2)
    expect(sorted(await rowsOf(await query(its.key, 'sentiment', { version: before.version })))).toEqual(
      sorted(await rowsOf(before)),
    )

    await publish({ compact: true })
    expect(await spans()).toHaveLength(36 + 2)
    await expectPages(its.key, [its.brandId])
    expect(await spans({ predicateHints: [`date = '${day}'`] })).toEqual([
      [monthsBefore(20), addDays(monthsBefore(19), -1)],
    ])

    await db.query('delete from answers where id = $1', [id])
    await refresh(db)
    await publish()
    expect(await spans()).toHaveLength(35 + 2 + 2)
    await expectPages(its.key, [its.brandId])
    await publish({ compact: true })
    expect(await spans()).toHaveLength(36 + 2)
    await expectPages(its.key, [its.brandId])
  })

  test('a limited plan gets no month', async () => {
    await planned(its, 'agency')
    expect(months(await spans())).toEqual([])
    await expectPages(its.key, [its.brandId])
    await planned(its, 'enterprise')
  })
})

test('a query names many thousand files', async () => {
  const { key, brandId } = await answeredDays(db, { first: '2026-10-01', days: 1 })
  await db.query(
    `insert into daily.files (id, set_id, metric, brand_id, first, last, rows, stamp, added)
     select gen_random_uuid(), gen_random_uuid(), 'sentiment', $1, date '1900-01-01' + day, date '1900-01-01' + day, 1,
       '0', (select max(version) from daily.versions)
     from generate_series(1, 20000) as day`,
    [brandId],
  )
  expect(filesOf(await query(key, 'sentiment'))).toHaveLength(20_000)
})
