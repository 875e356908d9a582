import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type CursorBinding, type CursorPosition, signCursor } from '../../lib/page/cursor.ts'
import { PAGE_BYTES } from '../../lib/rows/size.ts'
import { resolveWindow } from '../../lib/statement/window.ts'
import { type Answer, call, pull, type Row } from '../fixtures/call.ts'
import { clearOfMidnight, daysAgo } from '../fixtures/clock.ts'
import { findEndpoints, hasRowsOfBrand } from '../fixtures/endpoints.ts'
import { expectError } from '../fixtures/expect-error.ts'
import { fillDaily, hasManyRowsADay } from '../fixtures/fill-daily.ts'
import { brand, database, insert } from '../fixtures/rows.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

const db = database()
const paged = (await findEndpoints()).filter(hasRowsOfBrand)

beforeAll(() => clearOfMidnight(60_000), 90_000)

const ALL = { fromDate: '2010-01-01', toDate: '2030-12-31' }

/** The number that a filled row carries in each of its integers. */
const numberOf = (row: Row): number => Number(Object.values(row).find(Number.isInteger))

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

const CURSOR_SECRET = inject('cursorSecret')

/** A cursor as the emulator's Workers sign it, of a run on a brand. */
const seal = (position: Omit<CursorPosition, 'organizationId'>, binding: CursorBinding) =>
  signCursor({ organizationId: null, ...position }, binding, [CURSOR_SECRET])

/** A brand with citations, all of one day. */
async function cited(rows: number, day = '2026-10-01'): Promise<Tenant> {
  const its = await tenant(db)
  await fillDaily(db, { name: 'citations', brandId: its.brandId, rows, first: day, days: 1 })
  return its
}

const page = (
  { key, brandId }: Pick<Tenant, 'key' | 'brandId'>,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<Answer> => call('/citations', { key, query: { brandId, ...ALL, ...query } })

test.each(paged)('a run through $path loses no row and doubles none', async ({ name, path }) => {
  const { key, brandId } = await tenant(db)
  const days = (await hasManyRowsADay(db, name)) ? 3 : 2500
  await fillDaily(db, { name, brandId, rows: 2500, first: '2015-01-01', days })
  const rows = await pull(path, { key, query: { brandId, ...ALL } })
  expect(rows.map(numberOf).sort((one, other) => one - other)).toEqual(numbered(1, 2500))
  const dates = rows.map(({ date }) => String(date))
  expect(dates).toEqual(dates.toSorted())
})

test('a run knows its last page, even a full one', async () => {
  const its = await cited(1000)
  const isLast = { pageSize: 1000, hasMore: false, nextCursor: null }
  const full = await page(its)
  expect([full.data.length, full.pagination]).toEqual([1000, isLast])
  await fillDaily(db, {
    name: 'citations',
    brandId: its.brandId,
    rows: 1,
    first: '2026-10-02',
    days: 1,
    from: 1001,
  })
  const first = await page(its)
  const cursor = first.pagination.nextCursor ?? ''
  expect(cursor).toMatch(/^[A-Za-z][A-Za-z0-9_-]+$/)
  expect([first.data.length, first.pagination]).toEqual([
    1000,
    { ...isLast, hasMore: true, nextCursor: cursor },
  ])
  const last = await page(its, { cursor })
  expect([last.data.map(numberOf), last.pagination]).toEqual([[1001], isLast])
  expect(last.meta).toEqual(first.meta)
})

describe('a page of large rows', () => {
  const MIB = 1024 ** 2

  /** Writes citations of one day, each with its number; `url` and `domain` are SQL. */
  async function large(rows: number, url: string, domain = 'null'): Promise<Tenant> {
    const its = await tenant(db)
    await db.query(
      `insert into daily.citations (brand_id, date, url_hash, url, domain, is_owned, citations)
       select $1, '2026-10-01', lpad(n::text, 32, '0')::uuid, ${url}, ${domain}, false, n from generate_series(1, $2::int) as n`,
      [its.brandId, rows],
    )
    return its
  }

  /** Follows `nextCursor` from page to page. */
  async function pagesOf(path: string, { key, brandId }: Tenant): Promise<Answer[]> {
    const pages: Answer[] = []
    let cursor: string | undefined
    do {
      const next = await call(path, { key, query: { brandId, ...ALL, cursor } })
      expect(next.status).toBe(200)
      pages.push(next)
      cursor = next.pagination.nextCursor ?? undefined
    } while (cursor !== undefined)
    return pages
  }

  const rowsOf = (pages: readonly Answer[]) => pages.map(({ data }) => data.map(numberOf))

  test('ends before its rows take too many bytes, and the next page continues there', async () => {
    const kinds = [
      `repeat(e'\\x01', 8188) || 1000 + n`,
      `repeat('"', 8188) || 1000 + n`,
      `repeat('語', 2729) || 1000 + n`,
      `e'\\x7f,\\x7fN\\x7fD,' || n`,
      `repeat(e'\\u0085', 4094) || 1000 + n`,
      `repeat(e'\\u2028', 2729) || 1000 + n`,
    ]
    const url = `case n % ${kinds.length} ${kinds.map((text, kind) => `when ${kind} then ${text}`).join(' ')} end`
    const its = await large(400, url, `case when n % 3 > 0 then repeat(chr(32 - n % 3), 8000) end`)
    const pages = await pagesOf('/citations', its)
    expect(rowsOf(pages).flat()).toEqual(numbered(1, 400))
    for (const [index, { text, data }] of pages.slice(0, -1).entries()) {
      const bytes = Buffer.byteLength(text)
      expect(bytes).toBeLessThan(4 * MIB)
      const sent = JSON.stringify(pages[index + 1]?.data[0]).replace(/[\u0085\u2028]/g, '\\u0000')
      const next = Buffer.byteLength(sent)
      expect(bytes + next + 60 * data.length).toBeGreaterThan(PAGE_BYTES)
    }
    const { rows } = await db.query(
      'select url, domain from daily.citations where brand_id = $1 order by url_hash',
      [its.brandId],
    )
    expect(pages.flatMap(({ data }) => data.map(({ url, domain }) => ({ url, domain })))).toEqual(rows)
  })

  test('continues after a long name', async () => {
    const its = await tenant(db)
    await db.query(
      `insert into daily.competitors
       select $1, '2026-10-01', lpad(n::text, 4, '0') || repeat(e'\\x01', 900), n, n, 50 from generate_series(1, 1500) as n`,
      [its.brandId],
    )
    const pages = await pagesOf('/competitors', its)
    const rows = rowsOf(pages)
    expect(rows.flat()).toEqual(numbered(1, 1500))
    // Its cursor makes the address of the next page too long for a header.
    expect(pages.map(({ headers }) => headers.get('Link'))).toEqual(pages.map(() => null))
    expect(rows[0]?.length).toBeLessThan(1000)
  })

  test('holds exactly the limit, and not a byte more', async () => {
    const its = await large(600, 'n', `repeat(e'\\x01', 1080)`)
    const { rows } = await db.query<{ bytes: number }>(
      `select sum(octet_length(to_json(stored)::text) + 2)::int as bytes from (
         select date, url, domain, is_owned, citations, url_hash from daily.citations where brand_id = $1
       ) as stored`,
      [its.brandId],
    )
    const lengthen = (characters: number) =>
      db.query(
        `update daily.citations set domain = domain || repeat('a', $2) where brand_id = $1 and citations = 600`,
        [its.brandId, characters],
      )
    // The rows take a little less than the limit.
    expect(rows[0]?.bytes).toBeLessThanOrEqual(PAGE_BYTES)
    await lengthen(PAGE_BYTES - (rows[0]?.bytes ?? 0))
    expect((await page(its)).pagination.hasMore).toBe(false)
    await lengthen(1)
    expect(rowsOf(await pagesOf('/citations', its))).toEqual([numbered(1, 599), [600]])
  })

  test('has one row when that alone is over the limit', async () => {
    const its = await large(3, 'n', `repeat('a', 4 * 1024 * 1024)`)
    expect(rowsOf(await pagesOf('/citations', its))).toEqual([[1], [2], [3]])
  })
})

// By code point: ASCII, Latin, combining marks, Greek, then U+F900, U+FB00, U+FF5E, and the astral planes last.
const NAMES = [
  ' lead',
  ...`"quoted" 10 9 A Zebra \\ _ a apple apple's e\u0301clair zebra École éclair Ωmega`.split(' '),
]
NAMES.push(...'\uf900 \ufb00 \uff5e \u{10000} 😀'.split(' '))

test('the order of competitors is the date, then the name by code point, at every place where a page can end', async () => {
  const { key, brandId } = await tenant(db)
  const dates = ['2026-10-01', '2026-10-02']
  const rows = dates.flatMap((date) =>
    NAMES.map((name) => ({
      brand_id: brandId,
      date,
      competitor_name: name,
      total_responses: 4,
      competitor_visible_responses: 1,
      competitor_visibility_rate: '25.0000',
    })),
  )
  await insert(db, 'daily.competitors', rows.toReversed())
  const query = { brandId, fromDate: '2026-10-01', toDate: '2026-10-02' }
  const keyOf = ({ date, competitor_name }: Row) => `${date} ${competitor_name}`
  const expected = rows.map(keyOf)
  expect((await call('/competitors', { key, query })).data.map(keyOf)).toEqual(expected)

  const window = resolveWindow(query, 'enterprise', new Date())
  for (const [index, { date, competitor_name }] of rows.entries()) {
    const position = { window, after: [date, competitor_name] }
    const cursor = await seal(position, { endpoint: '/competitors', ...query })
    const { data } = await call('/competitors', { key, query: { ...query, cursor } })
    expect(data.map(keyOf), `after ${date} ${competitor_name}`).toEqual(expected.slice(index + 1))
  }
})
describe('a cursor', () => {
  async function started(): Promise<{ its: Tenant; cursor: string }> {
    const its = await cited(1001)
    const { pagination } = await page(its)
    return { its, cursor: pagination.nextCursor ?? '' }
  }

  // Other bindings, altered and forged cursors: test/unit/cursor.test.ts.
  test('belongs to the endpoint, the brand and the dates with which the run began', async () => {
    const { its, cursor } = await started()
    const { key, brandId } = its
    expectError(await call('/citation-share', { key, query: { brandId, ...ALL, cursor } }), 400)
    const another = await brand(db, its.org)
    expectError(await page({ ...its, brandId: another }, { cursor }), 400)
    for (const change of [{ fromDate: '2010-01-02' }, { toDate: undefined }, { cursor: `${cursor}A` }])
      expectError(await page(its, { cursor, ...change }), 400)
    expect((await page(its, { cursor })).data).toHaveLength(1)
  })

  test('is also in a Link to the next page, with the run’s other parameters', async () => {
    const { its, cursor } = await started()
    const { key, brandId } = its
    const first = await call('/citations?api_key=x&toString=y&cursor2=z&cursor=', {
      key,
      query: { brandId, ...ALL },
    })
    const link = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('Link') ?? '')?.[1] ?? ''
    const linked = Object.fromEntries(new URL(link).searchParams)
    expect(linked).toEqual({ brandId: its.brandId, ...ALL, cursor })
    const last = await page(its, { cursor: linked.cursor })
    expect([last.status, last.data.length, last.headers.get('Link')]).toEqual([200, 1, null])
  })

  test('without a brand belongs to the organization of the key, after its access is checked', async () => {
    const [its, stranger] = [await tenant(db), await tenant(db)]
    await fillDaily(db, {
      name: 'changes',
      brandId: its.brandId,
      rows: 1001,
      first: '2015-01-01',
      days: 1001,
    })
    const { pagination } = await call('/changes', { key: its.key })
    const read = ({ key }: Tenant) =>
      call('/changes', { key, query: { cursor: pagination.nextCursor ?? '' } })
    expect((await read(its)).data).toHaveLength(1)
    expectError(await read(stranger), 400)
    await db.query(`update subscriptions set plan = 'lite' where organization_id = $1`, [stranger.org.id])
    expectError(await read(stranger), 403)
  })

  test('grants nothing: each page passes the gates with the key’s live state', async () => {
    const { its, cursor } = await started()
    const stranger = await tenant(db)
    expectError(await page({ ...its, key: stranger.key }, { cursor }), 404)
    const set = (sql: string, ...values: unknown[]) => db.query(sql, values)
    await set('update brands set active = false where id = $1', its.brandId)
    expectError(await page(its, { cursor }), 404)
    await set(`update subscriptions set status = 'past_due' where organization_id = $1`, its.org.id)
    expectError(await page(its, { cursor }), 403)
    await set('update api_keys set revoked_at = now() where id = $1', its.keyId)
    expectError(await page(its, { cursor }), 401)
  })
})

// Clamping a later page again: test/unit/window.test.ts.
describe('what changes between two pages', () => {
  test('a plan that was lowered clamps at once', async () => {
    const its = await tenant(db)
    const { brandId } = its
    const query = { fromDate: daysAgo(400), toDate: undefined }
    await fillDaily(db, { name: 'citations', brandId, rows: 1001, first: daysAgo(400), days: 1 })
    await fillDaily(db, { name: 'citations', brandId, rows: 2, first: daysAgo(91), days: 2, from: 1002 })
    const first = await page(its, query)
    expect(first.meta).toMatchObject({ plan: 'enterprise', fromDate: `${daysAgo(400)}T00:00:00.000Z` })
    await db.query(`update subscriptions set plan = 'pro' where organization_id = $1`, [its.org.id])
    const next = await page(its, { ...query, cursor: first.pagination.nextCursor ?? '' })
    expect(next.data.map(numberOf)).toEqual([1003])
    expect(next.meta).toEqual({ ...first.meta, plan: 'pro', fromDate: `${daysAgo(90)}T00:00:00.000Z` })
  })

  test('rows that come late repeat and drop none that stayed', async () => {
    const its = await tenant(db)
    const fill = (from: number, rows: number, first: string) =>
      fillDaily(db, { name: 'citations', brandId: its.brandId, rows, first, days: 1, from })
    await fill(1, 800, '2026-10-02')
    await fill(801, 800, '2026-10-03')
    const first = await page(its)
    await fill(1601, 300, '2026-10-01')
    await fill(1901, 300, '2026-10-02')
    await fill(2201, 300, '2026-10-04')
    const second = await page(its, { cursor: first.pagination.nextCursor ?? '' })
    expect([first.data.length, second.data.length, second.pagination.hasMore]).toEqual([1000, 900, false])
    const seen = [...first.data, ...second.data].map(numberOf).sort((one, other) => one - other)
    expect(seen).toEqual([...numbered(1, 1600), ...numbered(2201, 2500)])
  })

  test('rows that go take none with them, be it the last one that was served', async () => {
    const its = await cited(2100)
    const first = await page(its)
    const gone = [...first.data.slice(0, 10), ...first.data.slice(-5)].map(({ url }) => url)
    await db.query('delete from daily.citations where brand_id = $1 and url = any ($2)', [its.brandId, gone])
    const rest = await pull('/citations', {
      key: its.key,
      query: { brandId: its.brandId, ...ALL, cursor: first.pagination.nextCursor ?? '' },
    })
    const seen = [...first.data, ...rest].map(numberOf).sort((one, other) => one - other)
    expect(seen).toEqual(numbered(1, 2100))
  })
})
