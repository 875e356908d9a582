import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { fieldNames, fieldsOf, nullable, text } from '../../lib/rows/schema.ts'
import { columnNames, columnReader } from '../../lib/statement/wire.ts'
import { RESULT, Row } from '../fixtures/row.ts'

const read = columnReader(fieldsOf(Row))

test('reads the fields of the schema, in its order', () => {
  expect(fieldNames(Row).join(' ')).toBe('date id at name domain answers share sum score owned')
  expect(columnNames(Row)).toEqual(Object.keys(RESULT))
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
    const [column] = columnReader(fieldsOf(Domain))({ cells_domain: sent }, cells.length)
    expect(column).toMatchObject({ cells })
  })
})
