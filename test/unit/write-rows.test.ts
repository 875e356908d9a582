import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { fieldsOf, nullable, numbers, preciseInstant, rate, text } from '../../lib/rows/schema.ts'
import { writeCsv, writeCsvHeader, writeJson, writeNdjson } from '../../lib/rows/write.ts'
import { columnReader } from '../../lib/statement/wire.ts'
import { AT, ID, RESULT, Row } from '../fixtures/row.ts'

test('writes numbers digit by digit, missing values as null and free text with commas as it is', () => {
  const first =
    `{"date":"2026-10-01","id":"${ID}","at":"${AT}","name":"Acme, Inc.","domain":"a.example",` +
    '"answers":3,"share":33.3333,"sum":12345678901234.5000,"score":100.0000,"owned":true}'
  const second =
    `{"date":"2026-10-02","id":"${ID}","at":"${AT}","name":"null","domain":null,` +
    '"answers":0,"share":0.0000,"sum":0.0000,"score":null,"owned":false}'
  const columns = columnReader(fieldsOf(Row))(RESULT, 2)
  expect(writeJson({ columns, rows: 2 }, ',')).toBe(`${first},${second}`)
  expect(writeJson({ columns, rows: 2 }, ',\n')).toBe(`${first},\n${second}`)
  expect(writeJson({ columns, rows: 1 }, ',')).toBe(first)
})

test('writes objects as Postgres wrote them, and times with microseconds', () => {
  const Change = z.object({ totals: numbers('Sums.'), changed_at: preciseInstant('A time.') })
  const at = '2026-10-01T12:00:00.123450Z'
  const totals = ['{"weight": 0.0000, "count": 0}', '{"weight": 12.5000, "count": 3}']
  const columns = columnReader(fieldsOf(Change))(
    { cells_totals: totals.join('\u007f,'), cells_changed_at: `${at},${at}` },
    2,
  )
  expect(writeJson({ columns, rows: 2 }, ',')).toBe(
    totals.map((each) => `{"totals":${each},"changed_at":"${at}"}`).join(','),
  )
})

describe('escapes text as the to_json of Postgres does', () => {
  const Text = z.object({ name: text('A name.') })
  const toJson = (name: string) => {
    const sent = name.replaceAll('\u007f', '\u007fD')
    return writeJson({ columns: columnReader(fieldsOf(Text))({ cells_name: sent }, 1), rows: 1 }, ',')
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

  // Postgres does not, and its bytes are counted as if it did.
  test.each([
    ['\u0085', '\\u0085'],
    ['a\u2028b\u2028"', 'a\\u2028b\\u2028\\"'],
    ['\u2029', '\\u2029'],
  ])('and line separators: %j', (name, escaped) => {
    expect(toJson(name)).toBe(`{"name":"${escaped}"}`)
  })

  test.each([
    ['', ''],
    ['null', 'null'],
    ['12', '12'],
    ['a,b', 'a,b'],
    ["it's", "it's"],
    ['say "no"', 'say \\"no\\"'],
    ['back\\slash \\u0041', 'back\\\\slash \\\\u0041'],
    ['\u007f\u0080\ufeff', '\u007f\u0080\ufeff'],
    ['Grüße, 日本語, 😀, \u{10ffff}', 'Grüße, 日本語, 😀, \u{10ffff}'],
    ['</script>', '</script>'],
    ['"},{"name":"', '\\"},{\\"name\\":\\"'],
  ])('%j', (name, escaped) => {
    expect(toJson(name)).toBe(`{"name":"${escaped}"}`)
  })
})

test('NDJSON has one object a line, the last one included', () => {
  const columns = columnReader(fieldsOf(Row))(RESULT, 2)
  const [first, second] = [1, 2].map((rows) => writeJson({ columns, rows }, '\n').split('\n').at(-1))
  expect(writeNdjson({ columns, rows: 2 })).toBe(`${first}\n${second}\n`)
})

describe('CSV', () => {
  const Texts = z.object({
    name: text('A name.'),
    domain: nullable(text('A domain.')),
    score: nullable(rate('A score.')),
    sums: numbers('Sums.'),
  })
  const csvOf = (name: string, domain: string | null, score: string | null, sums = '{}') =>
    writeCsv({
      columns: Object.entries({ name, domain, score, sums }).map(([field, cell]) => ({
        name: field,
        isQuoted: true,
        isPlain: false,
        cells: [cell],
      })),
      rows: 1,
    })

  test('begins with the names of the fields', () => {
    expect(writeCsvHeader(fieldsOf(Texts))).toBe('name,domain,score,sums\r\n')
  })

  test('has the cells as JSON has them, without quotes where none are needed', () => {
    expect(writeCsv({ columns: columnReader(fieldsOf(Row))(RESULT, 2), rows: 2 })).toBe(
      `2026-10-01,${ID},${AT},"Acme, Inc.",a.example,3,33.3333,12345678901234.5000,100.0000,true\r\n` +
        `2026-10-02,${ID},${AT},null,,0,0.0000,0.0000,,false\r\n`,
    )
  })

  test.each([
    ['an empty text and null', '', null, '"",,,{}'],
    ['quotes', 'say "no"', '"', '"say ""no""","""",,{}'],
    ['a comma', 'a,b', ',', '"a,b",",",,{}'],
    ['line ends', 'a\nb', '\r', '"a\nb","\r",,{}'],
    ['spaces at the ends, as they are', ' a ', '\t', ' a ,\t,,{}'],
    ['what a spreadsheet takes for a formula, as it is', '=1+1', '@x', '=1+1,@x,,{}'],
    ['other characters, as they are', 'a\\n\u0001\u2028', '日本語 😀', 'a\\n\u0001\u2028,日本語 😀,,{}'],
  ])('writes %s', (_, name, domain, line) => {
    expect(csvOf(name, domain, null)).toBe(`${line}\r\n`)
  })

  test('has objects as their JSON text', () => {
    expect(csvOf('a', null, '12.5000', '{"count":3,"weight":0.0000}')).toBe(
      'a,,12.5000,"{""count"":3,""weight"":0.0000}"\r\n',
    )
  })
})
