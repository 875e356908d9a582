import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { signCursor } from '../../lib/page/cursor.ts'
import { EVERY_DAY, resolveWindow } from '../../lib/statement/window.ts'
import { brandsDigestOf } from '../../site/reference/digest.ts'
import { call, pull, type Row } from '../fixtures/call.ts'
import { clearOfMidnight } from '../fixtures/clock.ts'
import { forgetNew } from '../fixtures/fill-daily.ts'
import { brand, database } from '../fixtures/rows.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

// /changes without brandId. With it: test/e2e/changes.test.ts. What the statement reads: test/e2e/plan.test.ts.

const db = database()
beforeAll(() => clearOfMidnight(60_000))

const CURSOR_SECRET = inject('cursorSecret')

type Fill = {
  readonly brandId: string
  readonly rows: number
  readonly rowsPerChange: number
  readonly skip?: number
}

/** Lists days of a brand as changed, some at each `changed_at` that follows the first ones, which are the same for all. */
async function fill({ brandId, rows, rowsPerChange, skip = 0 }: Fill): Promise<void> {
  await forgetNew(db, brandId)
  await db.query(
    `insert into daily.changes (brand_id, endpoint, date, rows, totals, digest, causes, changed_at, batch, bytes, first_changed_at)
     select $1, (array['citations', 'citation-share', 'visibility'])[1 + number % 3], date '2026-01-01' + number / 3, 1,
       '{"citations": 1}', '000000000000000', '{}',
       to_char(timestamp '2026-11-01' + (number / $3::int + $4::int) * interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 1, 1, ''
     from generate_series(0, $2::int - 1) as number`,
    [brandId, rows, rowsPerChange, skip],
  )
}

/** The stored rows of brands in the order of the listing. */
async function expected(brandIds: readonly string[], since = ''): Promise<unknown[]> {
  const { rows } = await db.query(
    `select changed_at, brand_id, endpoint, date::text from daily.changes
     where brand_id = any ($1) and changed_at > $2 order by changed_at, brand_id, endpoint, date`,
    [brandIds, since],
  )
  return rows.map(keyOf)
}

const keyOf = ({ changed_at, brand_id, endpoint, date }: Row) => [changed_at, brand_id, endpoint, date]

/** A tenant with several brands that have changes. */
async function tenantOf(changes: readonly Omit<Fill, 'brandId'>[]): Promise<Tenant & { brandIds: string[] }> {
  const its = await tenant(db)
  const brandIds: string[] = []
  for (const each of changes) {
    const brandId = await brand(db, its.org)
    await fill({ ...each, brandId })
    brandIds.push(brandId)
  }
  return { ...its, brandIds }
}

const read = ({ key }: Tenant, query: Readonly<Record<string, string>> = {}) =>
  call('/changes', { key, query })

describe('the order of rows', () => {
  test('is the time, the brand, the endpoint, the date, at every place where a page can end', async () => {
    const its = await tenantOf(Array.from({ length: 3 }, () => ({ rows: 6, rowsPerChange: 3 })))
    const rows = (await read(its)).data
    expect(rows.map(keyOf)).toEqual(await expected(its.brandIds))
    const window = resolveWindow(EVERY_DAY, 'enterprise', new Date())
    const organizationId = its.org.id
    for (const [index, row] of rows.entries()) {
      const after = keyOf(row).map(String)
      const cursor = await signCursor({ window, organizationId, after }, { endpoint: '/changes' }, [
        CURSOR_SECRET,
      ])
      expect((await read(its, { cursor })).data).toEqual(rows.slice(index + 1))
    }
  })

  test.each([
    ['brands that changed at one time', Array.from({ length: 5 }, () => ({ rows: 500, rowsPerChange: 500 }))],
    [
      'more brands than a page has rows',
      Array.from({ length: 1200 }, (_, n) => ({ rows: 2, rowsPerChange: 2, skip: Math.floor(n / 7) })),
    ],
    [
      'a brand with most changes, before and among those of others',
      [
        { rows: 2500, rowsPerChange: 1 },
        ...Array.from({ length: 20 }, (_, n) => ({ rows: 20, rowsPerChange: 1, skip: 120 * n })),
      ],
    ],
  ])('is that of all pages and of files, for %s', async (_, changes) => {
    const its = await tenantOf(changes)
    const rows = await pull('/changes', { key: its.key })
    expect(rows.map(keyOf)).toEqual(await expected(its.brandIds))
    const since = String(rows[700]?.changed_at)
    const later = await pull('/changes', { key: its.key, query: { since } })
    expect(later.map(keyOf)).toEqual(await expected(its.brandIds, since))
    const file = await fetch(new URL('/api/export/v1/changes?format=ndjson', inject('serviceUrl')), {
      headers: { 'X-API-Key': its.key, 'User-Agent': randomUUID() },
    })
    const lines = (await file.text()).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(rows)
    expect(file.headers.get('Content-Disposition')).toBe(
      'attachment; filename="changes_0001-01-01_9999-12-31.ndjson"',
    )
  })
})

test('has the brands that the key reads, and no row for a key without brands', async () => {
  const its = await tenantOf(Array.from({ length: 3 }, () => ({ rows: 2, rowsPerChange: 1 })))
  await tenantOf([{ rows: 2, rowsPerChange: 1 }])
  const [archived = '', listed = '', other = ''] = its.brandIds
  await db.query('update brands set active = false where id = $1', [archived])
  expect((await read(its)).data.map(keyOf)).toEqual(await expected([listed, other]))
  await db.query('update api_keys set brand_ids = $2 where id = $1', [its.keyId, [archived, listed]])
  expect((await read(its)).data.map(keyOf)).toEqual(await expected([listed]))
  await db.query(`update api_keys set brand_ids = '{}' where id = $1`, [its.keyId])
  const { status, data, pagination, meta } = await read(its)
  expect([status, data, pagination.hasMore, meta.brandId]).toEqual([200, [], false, null])
})

// The digest itself: test/e2e/brands.test.ts.
const digest = ({ headers }: { readonly headers: Headers }) => headers.get('X-Brands-Digest')

test('X-Brands-Digest is of the brands that the key reads when a page is read, changed or not', async () => {
  const its = await tenantOf([{ rows: 1001, rowsPerChange: 100 }])
  const [changed = ''] = its.brandIds
  const first = await read(its)
  expect(digest(first)).toBe(brandsDigestOf([its.brandId, changed]))
  const cursor = first.pagination.nextCursor ?? ''
  expect(digest(await read(its, { cursor }))).toBe(digest(first))
  expect(digest(await read(its, { brandId: changed }))).toBeNull()
  await db.query('update brands set active = false where id = $1', [its.brandId])
  expect(digest(await read(its, { cursor }))).toBe(brandsDigestOf([changed]))
  await db.query(`update api_keys set brand_ids = '{}' where id = $1`, [its.keyId])
  const none = await read(its)
  expect([none.data, digest(none)]).toEqual([[], brandsDigestOf([])])
  expect(digest(await call('/changes', { key: its.key, query: { format: 'csv' }, method: 'HEAD' }))).toBe(
    digest(none),
  )
})

test('a brand that is archived between two pages takes no row of another with it, and repeats none', async () => {
  const its = await tenantOf(Array.from({ length: 4 }, () => ({ rows: 400, rowsPerChange: 60 })))
  const first = await read(its)
  // The brand of the page's last row: the cursor names it.
  const gone = String(first.data.at(-1)?.brand_id)
  await db.query('update brands set active = false where id = $1', [gone])
  const { nextCursor } = first.pagination
  const rest = await pull('/changes', { key: its.key, query: { cursor: nextCursor ?? '' } })
  expect(rest.filter(({ brand_id }) => brand_id === gone)).toEqual([])
  const staying = [...first.data, ...rest].filter(({ brand_id }) => brand_id !== gone)
  expect(staying.map(keyOf)).toEqual(await expected(its.brandIds.filter((id) => id !== gone)))
})
