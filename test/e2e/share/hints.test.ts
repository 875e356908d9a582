import { beforeAll, describe, expect, test } from 'vitest'
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

const withTree = (tree: object) => named({ jsonPredicateHints: JSON.stringify(tree) })
const compare = (op: string, name: string, ...values: string[]) => ({
  op,
  children: [{ op: 'column', name }, ...values.map((value) => ({ op: 'literal', value }))],
})

describe('a query names the files', () => {
  test('of all brands and days without a hint', async () => {
    expect(await named({})).toEqual(ALL)
    expect(await named({ predicateHints: [`sentiment_score > 50`], limitHint: 1 })).toEqual(ALL)
  })

  test('of days that overlap one of several ranges', async () => {
    const early = compare('lessThanOrEqual', 'date', '2026-10-01')
    const late = compare('greaterThanOrEqual', 'date', '2026-10-04')
    expect(await withTree({ op: 'or', children: [early, late] })).toEqual([
      'other 2026-10-01',
      'own 2025-09-01',
      'own 2026-10-01',
      'own 2026-10-04',
    ])
    expect(await withTree({ op: 'and', children: [early, late] })).toEqual([])
  })

  test('of a month that has one of the days', async () => {
    expect(await withTree(compare('in', 'date', '2025-09-30', '2026-10-02', '9999-12-31'))).toEqual([
      'own 2025-09-01',
      'own 2026-10-02',
    ])
    expect(await named({ predicateHints: [`date in ('2025-08-31', '2025-10-01')`] })).toEqual([])
  })

  test('of brands, when both kinds of hints allow them', async () => {
    expect(await withTree(compare('equal', 'brand_id', other))).toEqual(ALL.slice(0, 2))
    const predicateHints = [`brand_id in ('${other}', '${its.brandId.toUpperCase()}')`, `date = '2026-10-03'`]
    expect(await named({ predicateHints })).toEqual(['other 2026-10-03', 'own 2026-10-03'])
    const tree = compare('in', 'brand_id', its.brandId, '00000000-0000-0000-0000-000000000000')
    expect(await named({ predicateHints, jsonPredicateHints: JSON.stringify(tree) })).toEqual([
      'own 2026-10-03',
    ])
  })
})

test('the rows of brands have no days', async () => {
  const jsonPredicateHints = JSON.stringify(compare('equal', 'date', '2026-10-02'))
  expect(objectsOf(await query(its.key, 'brands', { jsonPredicateHints }))).toHaveLength(2)
  const predicateHints = [`date > '2026-10-02'`, `date < '2026-10-01'`, `brand_id = '${other}'`]
  expect(objectsOf(await query(its.key, 'brands', { predicateHints }))).toHaveLength(1)
})
