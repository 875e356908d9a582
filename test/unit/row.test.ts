import { sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { toQuery } from '../../lib/prepared-statement.ts'
import { aggregateColumns, columnNames, columnReader, fieldNames, type RowSchema } from '../../lib/row.ts'
import { count, day, nullable, numbers, pathSegment, rate, text } from '../../lib/schemas.ts'
import { RESULT, Row } from '../fixtures/row.ts'

const read = columnReader(Row)

test('reads the fields of the schema, in its order', () => {
  expect(fieldNames(Row).join(' ')).toBe('date id at name domain answers share sum score owned')
  expect(columnNames(Row)).toEqual(Object.keys(RESULT))
})

const DEL = `E'\\x7f'`

test.each<[string, RowSchema['shape'][string], string, string[]?]>([
  ['free text', text('A text.'), `string_agg(replace(page."x", ${DEL}, ${DEL} || 'D'), ${DEL} || ',')`],
  [
    'nullable free text',
    nullable(text('A text.')),
    `string_agg(coalesce(replace(page."x", ${DEL}, ${DEL} || 'D'), ${DEL} || 'N'), ${DEL} || ',')`,
  ],
  ['text of a fixed form', day('A day.'), `string_agg(page."x"::text, ',')`],
  ['an array of the key', day('A day.'), `array_to_string(array_agg(page."x"), ',')`, ['x']],
  [
    'free text of the key',
    text('A text.'),
    `string_agg(replace(page."x", ${DEL}, ${DEL} || 'D'), ${DEL} || ',')`,
    ['x'],
  ],
  [
    'text with a pattern, of the key',
    pathSegment('A path.'),
    `array_to_string(array_agg(page."x"), ',')`,
    ['x'],
  ],
  ['objects', numbers('Sums.'), `string_agg(page."x"::text, ${DEL} || ',')`],
  ['numbers', count('A count.'), `string_agg(page."x"::text, ',')`],
  ['nullable numbers', nullable(rate('A rate.')), `string_agg(coalesce(page."x"::text, 'null'), ',')`],
])('collects %s into one text', (_, field, expected, key) => {
  const [column = sql``] = aggregateColumns(z.object({ x: field }), key)
  expect(toQuery(column).sql).toBe(`${expected} as "cells_x"`)
})

test('an empty result has columns without cells', () => {
  const empty = Object.fromEntries(Object.keys(RESULT).map((name) => [name, null]))
  const columns = read(empty, 0)
  expect(columns.map(({ cells }) => cells)).toEqual(Object.keys(RESULT).map(() => []))
})

test.each([
  ['has fewer cells than rows', { cells_date: '2026-10-01' }],
  ['has more cells than rows', { cells_share: '1.0000,2.0000,3.0000' }],
  ['has fewer texts than rows', { cells_name: 'Acme' }],
  ['has more texts than rows', { cells_domain: 'a\u007f,\u007fN\u007f,b' }],
  ['is truncated', { cells_name: 'Acme\u007f' }],
  ['is null', { cells_owned: null }],
])('throws TypeError when a column %s', (_, wrong) => {
  expect(() => read({ ...RESULT, ...wrong }, 2)).toThrow(TypeError)
})

test('throws TypeError when a column is missing', () => {
  const { cells_owned, ...incomplete } = RESULT
  expect(() => read(incomplete, 2)).toThrow(TypeError)
})

describe('free text', () => {
  const Domain = z.object({ domain: nullable(text('A domain.')) })

  test.each([
    ['a separator in a cell', ['a,b', ',', '']],
    ['the word null and null', ['null', null, 'N']],
    ['the mark in a cell', ['\u007f', '\u007fD', '\u007fD,', '\u007f,', '\u007fN', 'a\u007f\u007f', null]],
    ['characters outside the basic plane next to null and a mark', ['\u{10000}\u{103ff}', '\u007f😀', null]],
  ])('is read with %s', (_, cells) => {
    // As the statement's replace, coalesce and string_agg write it.
    const sent = cells.map((cell) => cell?.replaceAll('\u007f', '\u007fD') ?? '\u007fN').join('\u007f,')
    const [column] = columnReader(Domain)({ cells_domain: sent }, cells.length)
    expect(column).toMatchObject({ cells })
  })
})
