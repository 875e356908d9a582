import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { dailyVisibility } from '../../drizzle/metrics/visibility.ts'
import { dailyChanges } from '../../drizzle/tables/refresh.ts'
import { allBrandsStatements } from '../../lib/page/all-brands.ts'
import { count, day, fieldsOf, text } from '../../lib/rows/schema.ts'
import { pageStatements, resultReader } from '../../lib/statement/page-statement.ts'
import { emptyLog, loggedLines, statusOf } from '../fixtures/log.ts'

const lines = loggedLines()

const row = z.object({ date: day('A day.'), model_id: text('A model.'), total_prompts: count('Answers.') })
const key = ['date', 'model_id']
const readResult = resultReader({ fields: fieldsOf(row), key })
const read = (result: Parameters<typeof readResult>[0]) => readResult(result, 1000, emptyLog())

/** A page of two rows that others follow. */
const PAGE = {
  key_id: 'key',
  organization_id: 'organization',
  plan: 'pro',
  brand_id: 'brand',
  as_of: '2026-10-02T04:31:07.123Z',
  fits: '2',
  has_more: 'true',
  cells_date: '2026-10-01,2026-10-02',
  cells_model_id: 'a\u007f,b',
  cells_total_prompts: '1,2',
  last_date: '2026-10-02',
  last_model_id: 'b',
}
const LAST = { ...PAGE, has_more: 'false' }
const EMPTY = {
  ...LAST,
  fits: '0',
  cells_date: null,
  cells_model_id: null,
  cells_total_prompts: null,
  last_date: null,
  last_model_id: null,
}

test('a page that others follow has the key of its last row', () => {
  expect(read(PAGE)).toEqual({
    plan: 'pro',
    organizationId: 'organization',
    brandId: 'brand',
    asOf: '2026-10-02T04:31:07.123Z',
    brandsDigest: null,
    columns: [
      { name: 'date', isQuoted: true, isPlain: true, cells: ['2026-10-01', '2026-10-02'] },
      { name: 'model_id', isQuoted: true, isPlain: true, cells: ['a', 'b'] },
      { name: 'total_prompts', isQuoted: false, isPlain: true, cells: ['1', '2'] },
    ],
    rows: 2,
    next: ['2026-10-02', 'b'],
    total: null,
  })
})

test.each([
  ['a last page', LAST, 2],
  ['an empty page', EMPTY, 0],
])('%s has no next page', (_, result, rows) => {
  expect(read(result)).toMatchObject({ rows, next: null })
})

test.each([
  [401, null],
  [403, { ...PAGE, plan: null }],
  [404, { ...EMPTY, brand_id: null, as_of: null }],
])('returns %i before it reads the page of %j', (status, result) => {
  expect(statusOf(() => read(result))).toBe(status)
})

test('a page of all brands has no brand, and the digest of all', () => {
  const { brand_id, ...page } = { ...PAGE, brands_digest: '52dc3ba8379705e' }
  const readAll = resultReader({ fields: fieldsOf(row), key }, 'all')
  const expected = { brandId: null, brandsDigest: '52dc3ba8379705e', rows: 2 }
  expect(readAll(page, 1000, emptyLog())).toMatchObject(expected)
})

test.each([
  ['the number of rows', { fits: null }],
  ['a number of rows that is a number', { fits: 'many' }],
  ['whether another page follows', { has_more: null }],
  ['an answer to that', { has_more: '' }],
  ['a row that it counts', { fits: '3' }],
  ['a count of a row that it has', { fits: '1' }],
  ['a column', { cells_date: null }],
  ['a part of the last key', { last_model_id: null }],
  ['the last key', { last_date: null, last_model_id: null }],
])('returns 503 when the result lacks %s', (_, wrong) => {
  expect(statusOf(() => read({ ...PAGE, ...wrong }))).toBe(503)
  expect(lines).toMatchObject([{ event: 'database_error', error_name: 'TypeError' }])
})

test('the row that shows that another page follows is not of the page', () => {
  const column = (cell: string, separator: string) => Array(1001).fill(cell).join(separator)
  const found = {
    fits: '1001',
    cells_date: column('2026-10-01', ','),
    cells_model_id: column('a', '\u007f,'),
    cells_total_prompts: column('1', ','),
  }
  expect(read({ ...PAGE, ...found }).rows).toBe(1000)
})

const VISIBILITY = { path: '/visibility', table: dailyVisibility, row, key }

test('statements have the columns that the reader reads', () => {
  const { first, next, firstOfFile, nextOfFile } = pageStatements(VISIBILITY)
  for (const { columns } of [first, next, nextOfFile]) expect(columns).toEqual(Object.keys(PAGE))
  expect(firstOfFile.columns).toEqual([...Object.keys(PAGE), 'total'])
})

test('statements of all brands have these columns with the digest of the brands, and the keys of changes', () => {
  const { first, firstOfFile } = allBrandsStatements({
    ...VISIBILITY,
    table: dailyChanges,
    since: 'changed_at',
  })
  const keys = ['last_changed_at', 'last_brand_id', 'last_endpoint', 'last_date']
  const names = Object.keys(PAGE)
    .filter((name) => name !== 'brand_id' && !name.startsWith('last_'))
    .flatMap((name) => (name === 'as_of' ? [name, 'brands_digest'] : [name]))
  expect(first.columns).toEqual([...names, ...keys])
  expect(firstOfFile.columns).toEqual([...names, ...keys, 'total'])
})

test('the total of a file is the number of rows of the window', () => {
  expect(read({ ...PAGE, total: '2500' }).total).toBe(2500)
  expect(statusOf(() => read({ ...PAGE, total: 'many' }))).toBe(503)
})

// Their dead rows stay as long as the oldest snapshot.
test('a page reads neither the log of changes nor the refresh queue', () => {
  for (const { sql } of Object.values(pageStatements(VISIBILITY))) {
    expect(sql).not.toMatch(/change_log|refresh_queue/)
  }
})

test('building a statement fails for a key that is not a column of the table', () => {
  expect(() => pageStatements({ ...VISIBILITY, key: ['date', 'nothing'] })).toThrow(
    'No column nothing in visibility',
  )
})
