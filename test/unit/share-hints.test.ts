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
const and = (...children: unknown[]) => ({ op: 'and', children })
const or = (...children: unknown[]) => ({ op: 'or', children })

/** Bounds of brands, and of days: `first..last`, with one of them, or one day. */
const brands = (...ids: string[]): Bounds => ({ brand_id: ids.map((id) => ({ from: id, to: id })) })
const days = (...ranges: string[]): Bounds => ({
  date: ranges.map((range) => {
    const [from = '', to = from] = range.split('..')
    return { from: from || '-infinity', to: to || 'infinity' }
  }),
})

describe('an SQL hint', () => {
  test.each([
    [`date > '2026-01-05'`, days('2026-01-05..')],
    [`date <= '2026-01-05'`, days('..2026-01-05')],
    [`date < '2026-01-05'`, days('..2026-01-05')],
    [`date = '2026-01-05'`, days('2026-01-05')],
    ["(`date` >= DATE '2026-01-05')", days('2026-01-05..')],
    [`DATE >= CAST('2026-01-05' AS DATE)`, days('2026-01-05..')],
    [`date in ('2026-01-09', '2026-01-05')`, days('2026-01-05', '2026-01-09')],
    ["(`date` IN (DATE '2026-01-05', CAST('2026-01-05' AS DATE)))", days('2026-01-05')],
    [`brand_id = '${A.toUpperCase()}'`, brands(A)],
    [`brand_id IN ('${A}', '${B}')`, brands(A, B)],
  ])('%s sets bounds', (hint, bounds) => {
    expect(sql(hint)).toEqual(bounds)
  })

  test.each([
    [`date <> '2026-01-05'`],
    [`'2026-01-05' < date`],
    [`not (date = '2026-01-05')`],
    [`date >= '2026-01-05' and date <= '2026-01-06'`],
    [`brand_id < '${A}'`],
    ['date is null'],
    [`day(date) = '4'`],
    [`date <=> '2026-01-05'`],
    [`date not in ('2026-01-05')`],
    [`date >= '2026-01-05 12:00:00'`],
    [`date >= '2026-02-30'`],
    [`date >= '0000-01-01'`],
    [`date >= '10000-01-01'`],
    [`date = ('2026-01-05', '2026-01-06')`],
    [`date in ('2026-01-05', 'x')`],
    [`brand_id = 'it''s'`],
    [`brand_id = '${A} '`],
    [`brand_id in ('${A}', '\u0000')`],
    [`brand_id in ()`],
    [`brand_id in ('${A}') or date = '2026-01-05'`],
    [`url = '${A}'`],
  ])('%s sets none', (hint) => {
    expect(sql(hint)).toEqual({})
  })
})

describe('a JSON hint', () => {
  test.each<[unknown, Bounds]>([
    [compare('equal', 'brand_id', A), brands(A)],
    [compare('in', 'brand_id', B, A, B), brands(A, B)],
    [{ op: 'lessThanOrEqual', children: [literal('2026-01-05'), column('DATE')] }, days('2026-01-05..')],
    [and(compare('equal', 'brand_id', A), { op: 'isNull', children: [{}] }), brands(A)],
  ])('%j sets bounds', (tree, bounds) => {
    expect(json(tree)).toEqual(bounds)
  })

  test.each([
    [or(compare('equal', 'brand_id', A), 'and')],
    [compare('equal', 'url', 'x')],
    [{ op: 'in', children: [column('brand_id'), literal(A), column('id')] }],
    [compare('equal', 'brand_id')],
    [compare('equal', 'brand_id', A, B)],
    [compare('equal', 'brand_id', null)],
    [compare('in', 'brand_id', A, `${A} `)],
    [compare('equal', 'date', 20260105)],
    [compare('constructor', 'date', '2026-01-05')],
    [or()],
    [null],
  ])('%j sets none', (tree) => {
    expect(json(tree)).toEqual({})
  })

  const nested = (levels: number) =>
    '{"op":"or","children":['.repeat(levels) +
    JSON.stringify(compare('equal', 'brand_id', A)) +
    ']}'.repeat(levels)

  test('may be as deep as a body allows, and is read to 500 levels', () => {
    expect(readHints({ jsonPredicateHints: nested(500) })).toEqual(brands(A))
    expect(readHints({ jsonPredicateHints: nested(501) })).toEqual({})
    expect(readHints({ jsonPredicateHints: '['.repeat(65_536) })).toEqual({})
  })
})

test('all hints must hold', () => {
  expect(
    readHints({
      predicateHints: ['nonsense', `date > '2026-01-05'`, `brand_id in ('${A}', '${B}')`],
      jsonPredicateHints: JSON.stringify(
        and(compare('lessThan', 'date', '2026-01-09'), compare('equal', 'brand_id', B)),
      ),
    }),
  ).toEqual({ ...brands(B), ...days('2026-01-05..2026-01-09') })
  expect(sql(`brand_id = '${A}'`, `brand_id = '${B}'`)).toEqual({ brand_id: [] })
})

test('more than a thousand ranges are no bound', () => {
  const ids = Array.from({ length: 1001 }, (_, index) => `00000000-0000-0000-0000-${index + 10 ** 11}`)
  const years = Array.from({ length: 1001 }, (_, index) => `${index + 1000}-01-01`)
  expect(json(compare('in', 'brand_id', ...ids.slice(1)))).toEqual(brands(...ids.slice(1)))
  expect(json(compare('in', 'date', ...years.slice(1)))).toEqual(days(...years.slice(1)))
  expect(json(and(compare('in', 'brand_id', ...ids), compare('in', 'date', ...years)))).toEqual({})
})

test('hints of any form are no error', () => {
  const value = fc.oneof(fc.jsonValue(), fc.json(), fc.string(), fc.constant({ toString: 1, valueOf: 1 }))
  fc.assert(
    fc.property(value, value, (hints, tree) => {
      readHints({ predicateHints: hints, jsonPredicateHints: tree })
      readHints({ predicateHints: [hints, tree], jsonPredicateHints: JSON.stringify(hints) })
    }),
  )
  expect(sql(`brand_id in (${"'',".repeat(20_000)}'')`)).toEqual({})
  expect(sql(`date = '${'2'.repeat(60_000)}'`, `date =${' '.repeat(60_000)}x`)).toEqual({})
})

type Row = { readonly brand_id: string; readonly date: string }

/** A predicate as a JSON hint, and whether it holds for a row. */
type Predicate = { readonly tree: unknown; readonly holds: (row: Row) => boolean }

const OPERATORS = {
  equal: (a: string, b: string) => a === b,
  lessThan: (a: string, b: string) => a < b,
  lessThanOrEqual: (a: string, b: string) => a <= b,
  greaterThan: (a: string, b: string) => a > b,
  greaterThanOrEqual: (a: string, b: string) => a >= b,
} as const

type Operator = keyof typeof OPERATORS

const someDay = fc.constantFrom('2026-01-03', '2026-01-04', '2026-01-05', '2026-01-06', '2026-01-07')
const someBrand = fc.constantFrom(A, B)
const VALUES: Record<keyof Row, fc.Arbitrary<string>> = { brand_id: someBrand, date: someDay }

const comparison = (name: keyof Row, operators: readonly Operator[]): fc.Arbitrary<Predicate> =>
  fc.tuple(fc.constantFrom(...operators), VALUES[name], fc.boolean()).map(([op, value, isReversed]) => {
    const children = [column(name), literal(value)]
    return isReversed
      ? { tree: { op, children: children.toReversed() }, holds: (row) => OPERATORS[op](value, row[name]) }
      : { tree: { op, children }, holds: (row) => OPERATORS[op](row[name], value) }
  })

const list = (name: keyof Row): fc.Arbitrary<Predicate> =>
  fc.array(VALUES[name], { minLength: 1, maxLength: 3 }).map((values) => ({
    tree: compare('in', name, ...values),
    holds: (row) => values.includes(row[name]),
  }))

const unread: fc.Arbitrary<Predicate> = fc.constantFrom(
  { tree: { op: 'isNull', children: [column('date')] }, holds: () => false },
  {
    tree: { op: 'equal', children: [{ op: 'day', children: [column('date')] }, literal('4')] },
    holds: ({ date }: Row) => date.endsWith('04'),
  },
)

const not = ({ tree, holds }: Predicate): Predicate => ({
  tree: { op: 'not', children: [tree] },
  holds: (row) => !holds(row),
})

const joined = (op: 'and' | 'or', all: readonly Predicate[]): Predicate => ({
  tree: { op, children: all.map(({ tree }) => tree) },
  holds: (row) => (op === 'and' ? all.every(({ holds }) => holds(row)) : all.some(({ holds }) => holds(row))),
})

/** Predicates over leaves, by `and` and `or`. */
const predicates = (...leaves: readonly fc.Arbitrary<Predicate>[]): fc.Arbitrary<Predicate> =>
  fc.letrec<{ predicate: Predicate }>((tie) => ({
    predicate: fc.oneof(
      { depthSize: 'small' },
      ...leaves,
      fc
        .tuple(
          fc.constantFrom('and' as const, 'or' as const),
          fc.array(tie('predicate'), { minLength: 2, maxLength: 3 }),
        )
        .map(([op, all]) => joined(op, all)),
    ),
  })).predicate

/** Whether a file with the days of a brand would be named. */
const keeps = ({ brand_id, date }: Bounds, brand: string, [first, last]: readonly [string, string]) =>
  (brand_id?.some(({ from, to }) => from === brand && to === brand) ?? true) &&
  (date?.some(
    ({ from, to }) => (from === '-infinity' || from <= last) && (to === 'infinity' || to >= first),
  ) ??
    true)

test('no hint excludes a file that holds a matching row', () => {
  const leaf = fc.oneof(
    comparison('date', ['equal', 'lessThan', 'lessThanOrEqual', 'greaterThan', 'greaterThanOrEqual']),
    comparison('brand_id', ['equal', 'lessThan']),
    list('date'),
    list('brand_id'),
  )
  const predicate = predicates(leaf, unread, leaf.map(not))
  const row = fc.record({ brand_id: someBrand, date: someDay })
  fc.assert(
    fc.property(predicate, row, someDay, ({ tree, holds }, row, day) => {
      fc.pre(holds(row))
      const [first = '', last = ''] = [row.date, day].sort()
      return keeps(json(tree), row.brand_id, [first, last])
    }),
    { numRuns: 2000 },
  )
})

test('of what it reads of one column, the bounds are exact', () => {
  const inclusive = comparison('date', ['equal', 'lessThanOrEqual', 'greaterThanOrEqual'])
  fc.assert(
    fc.property(predicates(inclusive, list('date')), someDay, ({ tree, holds }, date) => {
      return keeps(json(tree), A, [date, date]) === holds({ brand_id: A, date })
    }),
    { numRuns: 2000 },
  )
})
