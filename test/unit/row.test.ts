import { sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { toQuery } from '../../lib/prepared-statement.ts'
import {
  aggregateColumns,
  columnNames,
  columnReader,
  fieldNames,
  type RowSchema,
  writeJson,
} from '../../lib/row.ts'
import {
  count,
  day,
  flag,
  instant,
  nullable,
  numbers,
  pathSegment,
  preciseInstant,
  rate,
  text,
  uuid,
  weight,
} from '../../lib/schemas.ts'

const Row = z.object({
  date: day('A day.'),
  id: uuid('An identifier.'),
  at: instant('An instant.'),
  name: text('A name.'),
  domain: nullable(text('A domain.')),
  answers: count('Answers.'),
  share: rate('A share.'),
  sum: weight('A sum.'),
  score: nullable(rate('A score.')),
  owned: flag('Whether.'),
})

const ID = '11111111-1111-1111-1111-111111111111'
const AT = '2026-10-01T12:00:00.120Z'

const read = columnReader(Row)

/** Two rows as a statement returns them. */
const RESULT = {
  cells_date: '2026-10-01,2026-10-02',
  cells_id: `${ID},${ID}`,
  cells_at: `${AT},${AT}`,
  cells_name: 'Acme, Inc.\u007f,null',
  cells_domain: 'a.example\u007f,\u007fN',
  cells_answers: '3,0',
  cells_share: '33.3333,0.0000',
  cells_sum: '12345678901234.5000,0.0000',
  cells_score: '100.0000,null',
  cells_owned: 'true,false',
}

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

test('writes numbers digit by digit, missing values as null and free text with commas as it is', () => {
  const first =
    `{"date":"2026-10-01","id":"${ID}","at":"${AT}","name":"Acme, Inc.","domain":"a.example",` +
    '"answers":3,"share":33.3333,"sum":12345678901234.5000,"score":100.0000,"owned":true}'
  const second =
    `{"date":"2026-10-02","id":"${ID}","at":"${AT}","name":"null","domain":null,` +
    '"answers":0,"share":0.0000,"sum":0.0000,"score":null,"owned":false}'
  const columns = read(RESULT, 2)
  expect(writeJson({ columns, rows: 2 })).toBe(`${first},${second}`)
  expect(writeJson({ columns, rows: 2, separator: ',\n' })).toBe(`${first},\n${second}`)
  expect(writeJson({ columns, rows: 1 })).toBe(first)
})

test('writes objects as Postgres wrote them, and times with microseconds', () => {
  const Change = z.object({ totals: numbers('Sums.'), changed_at: preciseInstant('A time.') })
  const at = '2026-10-01T12:00:00.123450Z'
  const totals = ['{"weight": 0.0000, "count": 0}', '{"weight": 12.5000, "count": 3}']
  const columns = columnReader(Change)(
    { cells_totals: totals.join('\u007f,'), cells_changed_at: `${at},${at}` },
    2,
  )
  expect(writeJson({ columns, rows: 2 })).toBe(
    totals.map((each) => `{"totals":${each},"changed_at":"${at}"}`).join(','),
  )
})

test('an empty result has columns without cells and no JSON', () => {
  const empty = Object.fromEntries(Object.keys(RESULT).map((name) => [name, null]))
  const columns = read(empty, 0)
  expect(columns.map(({ cells }) => cells)).toEqual(Object.keys(RESULT).map(() => []))
  expect(writeJson({ columns, rows: 0 })).toBe('')
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
    expect(column?.cells).toEqual(cells)
    const json = writeJson({ columns: column ? [column] : [], rows: cells.length })
    expect(JSON.parse(`[${json}]`)).toEqual(cells.map((domain) => ({ domain })))
  })
})

describe('escapes text as the to_json of Postgres does', () => {
  const Text = z.object({ name: text('A name.') })
  const toJson = (name: string) => {
    const sent = name.replaceAll('\u007f', '\u007fD')
    return writeJson({ columns: columnReader(Text)({ cells_name: sent }, 1), rows: 1 })
  }

  // What select to_json(chr(n)) returns for n = 1 to 31.
  const CONTROLS =
    '\\u0001 \\u0002 \\u0003 \\u0004 \\u0005 \\u0006 \\u0007 \\b \\t \\n \\u000b \\f \\r \\u000e \\u000f \\u0010 ' +
    '\\u0011 \\u0012 \\u0013 \\u0014 \\u0015 \\u0016 \\u0017 \\u0018 \\u0019 \\u001a \\u001b \\u001c \\u001d \\u001e \\u001f'

  test.each(
    CONTROLS.split(' ').map((escaped, index) => [index + 1, escaped]),
  )('character %i as %s', (code, escaped) => {
    expect(toJson(String.fromCodePoint(Number(code)))).toBe(`{"name":"${escaped}"}`)
  })

  test.each([
    ['', ''],
    ['null', 'null'],
    ['12', '12'],
    ['a,b', 'a,b'],
    ["it's", "it's"],
    ['say "no"', 'say \\"no\\"'],
    ['back\\slash \\u0041', 'back\\\\slash \\\\u0041'],
    ['\u007f\u0080\u2028\u2029\ufeff', '\u007f\u0080\u2028\u2029\ufeff'],
    ['Grüße, 日本語, 😀, \u{10ffff}', 'Grüße, 日本語, 😀, \u{10ffff}'],
    ['</script>', '</script>'],
    ['"},{"name":"', '\\"},{\\"name\\":\\"'],
  ])('%j', (name, escaped) => {
    expect(toJson(name)).toBe(`{"name":"${escaped}"}`)
  })
})
