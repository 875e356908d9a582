import { beforeAll, expect, test } from 'vitest'
import { brand } from '../../fixtures/rows.ts'
import { objectsOf, startShare } from '../../fixtures/share.ts'
import { type Tenant, tenant } from '../../fixtures/tenant.ts'

const { db, publish, query } = await startShare()

let its: Tenant
let other: string

beforeAll(async () => {
  its = await tenant(db)
  other = await brand(db, its.org)
  await publish()
  const list = async (brandId: string, first: string, last = first) =>
    db.query(
      `insert into daily.objects (id, metric, brand_id, period, first, last, digest, rows, bytes, added)
       select gen_random_uuid(), 'sentiment', $1, $4, $2, $3, '', 1, 1, max(version) from daily.versions`,
      [brandId, first, last, first === last ? 'day' : 'month'],
    )
  await list(its.brandId, '2025-09-01', '2025-09-30')
  for (const day of ['2026-10-01', '2026-10-02', '2026-10-03', '2026-10-04']) await list(its.brandId, day)
  for (const day of ['2026-10-01', '2026-10-03']) await list(other, day)
})

/** The files of a query, as their brand and first day. */
async function named(body: object): Promise<string[]> {
  const stats = objectsOf(await query(its.key, 'sentiment', body)).map((file) => JSON.parse(file.stats))
  return stats
    .map(({ minValues: { brand_id, date } }) => `${brand_id === other ? 'other' : 'own'} ${date}`)
    .sort()
}

const ALL = [
  'other 2026-10-01',
  'other 2026-10-03',
  'own 2025-09-01',
  'own 2026-10-01',
  'own 2026-10-02',
  'own 2026-10-03',
  'own 2026-10-04',
]

test('a query names the files of all brands and days without a bound', async () => {
  expect(await named({ predicateHints: [`sentiment_score > 50`], limitHint: 1 })).toEqual(ALL)
})

test('a query names the files that overlap one of several ranges of days', async () => {
  const compare = (op: string, value: string) => ({
    op,
    children: [
      { op: 'column', name: 'date' },
      { op: 'literal', value },
    ],
  })
  const children = [compare('lessThanOrEqual', '2026-10-01'), compare('greaterThanOrEqual', '2026-10-04')]
  const withTree = (op: string) => named({ jsonPredicateHints: JSON.stringify({ op, children }) })
  expect(await withTree('or')).toEqual(ALL.filter((name) => !/-0[23]$/.test(name)))
  expect(await withTree('and')).toEqual([])
  expect(await named({ predicateHints: [`date in ('2025-09-30', '2026-10-02', '9999-12-31')`] })).toEqual([
    'own 2025-09-01',
    'own 2026-10-02',
  ])
  expect(await named({ predicateHints: [`date in ('2025-08-31', '2025-10-01')`] })).toEqual([])
})

test('a query names the files of the brands and days of its hints', async () => {
  const ids = `'${other}', '00000000-0000-0000-0000-000000000000'`
  const predicateHints = [`brand_id in (${ids})`, `date = '2026-10-03'`]
  expect(await named({ predicateHints })).toEqual(['other 2026-10-03'])
})

test('the rows of brands have no days', async () => {
  const predicateHints = [`date > '2026-10-02'`, `date < '2026-10-01'`, `brand_id = '${other}'`]
  expect(objectsOf(await query(its.key, 'brands', { predicateHints }))).toHaveLength(1)
})
