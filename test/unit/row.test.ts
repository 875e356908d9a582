import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { columnsOf, rowWriter } from '../../lib/row.ts'
import { count, day, flag, instant, nullable, rate, text, uuid, weight } from '../../lib/schemas.ts'

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

const write = rowWriter(Row)

test('reads the schema’s fields, in its order', () => {
  expect(columnsOf(Row).join(' ')).toBe('date id at name domain answers share sum score owned')
})

test('writes the fields in the schema’s order, and numbers digit by digit', () => {
  const cells = [
    '2026-10-01',
    ID,
    AT,
    'Acme',
    'a.example',
    '3',
    '33.3333',
    '12345678901234.5000',
    '100.0000',
    'true',
  ]
  expect(write(cells)).toBe(
    `{"date":"2026-10-01","id":"${ID}","at":"${AT}","name":"Acme","domain":"a.example",` +
      '"answers":3,"share":33.3333,"sum":12345678901234.5000,"score":100.0000,"owned":true}',
  )
})

test('writes what has no value as null', () => {
  const json = write(['2026-10-01', ID, AT, 'Acme', null, '0', '0.0000', '0.0000', null, 'false'])
  expect(json).toContain('"domain":null,"answers":0,"share":0.0000,"sum":0.0000,"score":null,"owned":false')
})

test('leaves out cells beyond the schema', () => {
  const Name = z.object({ name: text('A name.') })
  expect(rowWriter(Name)(['Acme', 'key', null])).toBe('{"name":"Acme"}')
})

describe('text comes out as it went in', () => {
  const Text = z.object({ name: text('A name.'), domain: nullable(text('A domain.')) })
  const controls = Array.from({ length: 31 }, (_, index) => String.fromCodePoint(index + 1)).join('')

  test.each([
    '',
    'null',
    '12',
    'true',
    'say "no"',
    "it's",
    'back\\slash \\u0041 \\"',
    controls,
    '\u007f\u0080\u2028\u2029\ufeff',
    'Grüße, 日本語, 😀, \u{10ffff}',
    '</script>',
    '"},{"name":"',
  ])('%j', (name) => {
    expect(JSON.parse(rowWriter(Text)([name, name]))).toEqual({ name, domain: name })
  })
})
