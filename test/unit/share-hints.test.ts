import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bounds, readHints } from '../../lib/share/hints.ts'

const A = 'aaaaaaaa-0000-4000-8000-000000000001'
const B = 'bbbbbbbb-0000-4000-8000-000000000002'

const sql = (...predicateHints: unknown[]): Bounds => readHints({ predicateHints })
const json = (tree: unknown): Bounds => readHints({ jsonPredicateHints: JSON.stringify(tree) })

const column = (name: unknown) => ({ op: 'column', name, valueType: 'string' })
const literal = (value: unknown) => ({ op: 'literal', value, valueType: 'string' })
const compare = (op: unknown, name: unknown, ...values: unknown[]) => ({
  op,
  children: [column(name), ...values.map(literal)],
})

describe('an SQL hint', () => {
  test.each([
    [`date >= '2026-01-05'`, { from: '2026-01-05' }],
    [`date > '2026-01-05'`, { from: '2026-01-05' }],
    [`date <= '2026-01-05'`, { to: '2026-01-05' }],
    [`date < '2026-01-05'`, { to: '2026-01-05' }],
    [`date = '2026-01-05'`, { from: '2026-01-05', to: '2026-01-05' }],
    ["(`date` >= DATE '2026-01-05')", { from: '2026-01-05' }],
    [`DATE >= CAST('2026-01-05' AS DATE)`, { from: '2026-01-05' }],
    [`brand_id = '${A}'`, { brandIds: [A] }],
    [`brand_id = '${A.toUpperCase()}'`, { brandIds: [A] }],
    [`brand_id IN ('${A}', '${B}')`, { brandIds: [A, B] }],
  ])('%s sets bounds', (hint, bounds) => {
    expect(sql(hint)).toEqual(bounds)
  })

  test.each([
    [`date >= '2026-01-05' or date < '2026-01-01'`],
    [`not date >= '2026-01-05'`],
    [`date <> '2026-01-05'`],
    [`date != '2026-01-05'`],
    [`date <=> '2026-01-05'`],
    [`date >= '2026-01-05 12:00:00'`],
    [`date >= '2026-02-30'`],
    [`date >= '0000-01-01'`],
    [`date >= '10000-01-01'`],
    [`date is null`],
    [`date >= '2026-01-05`],
    [`date in ('2026-01-05')`],
    [`brand_id >= '${A}'`],
    [`brand_id = 'it''s'`],
    [`brand_id = '${A} '`],
    [`brand_id in ('${A}', '\u0000')`],
    [`brand_id in ('${A}', '\ud800')`],
    [`brand_id in ()`],
    [`brand_id in ('${A}') or date = '2026-01-05'`],
    [`lower(brand_id) = '${A}'`],
    [`url = '${A}'`],
  ])('%s sets none', (hint) => {
    expect(sql(hint)).toEqual({})
  })
})

describe('a JSON hint', () => {
  test.each([
    [compare('greaterThanOrEqual', 'date', '2026-01-05'), { from: '2026-01-05' }],
    [compare('greaterThan', 'date', '2026-01-05'), { from: '2026-01-05' }],
    [compare('lessThanOrEqual', 'date', '2026-01-05'), { to: '2026-01-05' }],
    [compare('lessThan', 'date', '2026-01-05'), { to: '2026-01-05' }],
    [compare('equal', 'brand_id', A), { brandIds: [A] }],
    [
      {
        op: 'and',
        children: [
          compare('equal', 'brand_id', A),
          { op: 'or', children: [compare('equal', 'brand_id', B)] },
          { op: 'and', children: [compare('equal', 'date', '2026-01-05'), { op: 'isNull', children: [{}] }] },
        ],
      },
      { brandIds: [A], from: '2026-01-05', to: '2026-01-05' },
    ],
  ])('%j sets bounds', (tree, bounds) => {
    expect(json(tree)).toEqual(bounds)
  })

  test.each([
    [{ op: 'or', children: [compare('equal', 'brand_id', A), compare('equal', 'brand_id', B)] }],
    [{ op: 'not', children: [compare('equal', 'brand_id', A)] }],
    [{ op: 'equal', children: [literal(A), column('brand_id')] }],
    [{ op: 'equal', children: [column('brand_id'), column('id')] }],
    [compare('equal', 'brand_id')],
    [compare('equal', 'brand_id', A, B)],
    [compare('equal', 'brand_id', null)],
    [compare('equal', 'date', 20260105)],
    [compare('constructor', 'date', '2026-01-05')],
    [compare({ toString: 1, valueOf: 1 }, 'date', '2026-01-05')],
    [compare('equal', { toString: 1, valueOf: 1 }, '2026-01-05')],
    [compare('lessThan', 'date', '2026-13-01')],
    [null],
    ['and'],
    [{ op: 'and', children: {} }],
    [{ op: 'and' }],
  ])('%j sets none', (tree) => {
    expect(json(tree)).toEqual({})
  })

  test('may be deeper than the stack', () => {
    const depth = 50_000
    const jsonPredicateHints = '{"op":"and","children":['.repeat(depth) + ']}'.repeat(depth)
    expect(readHints({ jsonPredicateHints })).toEqual({})
  })
})

test('all hints must hold', () => {
  expect(
    readHints({
      predicateHints: [
        `date >= '2026-01-01'`,
        'nonsense',
        `date > '2026-01-05'`,
        `brand_id in ('${A}', '${B}')`,
      ],
      jsonPredicateHints: JSON.stringify({
        op: 'and',
        children: [compare('lessThan', 'date', '2026-01-09'), compare('equal', 'brand_id', B)],
      }),
    }),
  ).toEqual({ brandIds: [B], from: '2026-01-05', to: '2026-01-09' })
  expect(sql(`brand_id = '${A}'`, `brand_id = '${B}'`)).toEqual({ brandIds: [] })
})

test('hints of any form are no error', () => {
  const value = fc.oneof(fc.jsonValue(), fc.json(), fc.string(), fc.constant({ toString: 1, valueOf: 1 }))
  fc.assert(
    fc.property(value, value, (hints, tree) => {
      readHints({ predicateHints: hints, jsonPredicateHints: tree })
      readHints({ predicateHints: [hints, tree], jsonPredicateHints: JSON.stringify(hints) })
    }),
  )
  expect(sql(`brand_id in (${"'',".repeat(300_000)}'')`)).toEqual({})
})

/** Whether a file of the brand and the day would be named. */
const admits = ({ brandIds, from, to }: Bounds, row: Row) =>
  (brandIds?.includes(row.brand_id) ?? true) && row.date >= (from ?? '') && row.date <= (to ?? '9')

type Row = { readonly brand_id: string; readonly date: string }
type Predicate = { readonly sql: string; readonly tree: unknown; readonly holds: (row: Row) => boolean }

const OPERATORS = {
  equal: ['=', (a: string, b: string) => a === b],
  lessThan: ['<', (a: string, b: string) => a < b],
  lessThanOrEqual: ['<=', (a: string, b: string) => a <= b],
  greaterThan: ['>', (a: string, b: string) => a > b],
  greaterThanOrEqual: ['>=', (a: string, b: string) => a >= b],
} as const

const days = fc.constantFrom('2026-01-04', '2026-01-05', '2026-01-06')
const brands = fc.constantFrom(A, B)

const leaf = (name: keyof Row, values: fc.Arbitrary<string>): fc.Arbitrary<Predicate> =>
  fc
    .tuple(
      fc.constantFrom('equal', 'lessThan', 'lessThanOrEqual', 'greaterThan', 'greaterThanOrEqual'),
      values,
    )
    .map(([op, value]) => {
      const [operator, holds] = OPERATORS[op]
      return {
        sql: `${name} ${operator} '${value}'`,
        tree: compare(op, name, value),
        holds: (row) => holds(row[name], value),
      }
    })

const { predicate } = fc.letrec<{ predicate: Predicate }>((tie) => ({
  predicate: fc.oneof(
    { depthSize: 'small' },
    leaf('date', days),
    leaf('brand_id', brands),
    tie('predicate').map(({ sql, tree, holds }) => ({
      sql: `NOT (${sql})`,
      tree: { op: 'not', children: [tree] },
      holds: (row: Row) => !holds(row),
    })),
    fc.tuple(fc.constantFrom('and', 'or'), tie('predicate'), tie('predicate')).map(([op, left, right]) => ({
      sql: `(${left.sql}) ${op} (${right.sql})`,
      tree: { op, children: [left.tree, right.tree] },
      holds: (row: Row) =>
        op === 'and' ? left.holds(row) && right.holds(row) : left.holds(row) || right.holds(row),
    })),
  ),
}))

test('no hint excludes a file that holds a matching row', () => {
  const row = fc.record({ brand_id: brands, date: days })
  fc.assert(
    fc.property(fc.array(predicate, { maxLength: 3 }), predicate, row, (hints, tree, row) => {
      const matches = [...hints, tree].every(({ holds }) => holds(row))
      const bounds = readHints({
        predicateHints: hints.map(({ sql }) => sql),
        jsonPredicateHints: JSON.stringify(tree.tree),
      })
      return !matches || admits(bounds, row)
    }),
    { numRuns: 2000 },
  )
})
