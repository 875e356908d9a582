import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { database } from '../../fixtures/rows.ts'

const db = database()

const TABLE = new Set(await readFile('drizzle/sql/fold.sql', 'utf8'))

/** Every code point that has another case or is in the folding's table, and a sample of all others. */
const LETTERS = Array.from({ length: 0x10ffff }, (_, index) => index + 1)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .filter((code) => {
    const letter = String.fromCodePoint(code)
    return (
      letter !== letter.toLowerCase() ||
      letter !== letter.toUpperCase() ||
      TABLE.has(letter) ||
      /\p{White_Space}/u.test(letter) ||
      code % 997 === 0 ||
      code === 1
    )
  })
  .map((code) => String.fromCodePoint(code))

/** No letter of any script, and the same in every case. */
const BETWEEN = '\u0001'

const folded = new Map<string, string>()

const foldOf = (text: string): string =>
  [...text]
    .map((letter) => folded.get(letter) ?? letter)
    .join('')
    .normalize()

const isOne = (text: string): boolean => [...text].length === 1

const hex = (letter: string): string => `U+${letter.codePointAt(0)?.toString(16).toUpperCase()}`

beforeAll(async () => {
  for (let from = 0; from < LETTERS.length; from += 8192) {
    const letters = LETTERS.slice(from, from + 8192)
    const { rows } = await db.query('select metrics.fold($1) as folded', [
      BETWEEN + letters.join(BETWEEN) + BETWEEN,
    ])
    // U+0001 itself stands between two of its kind, and leaves an empty part for each.
    const parts: string[] = rows[0].folded.slice(1, -1).split(BETWEEN)
    if (from === 0) parts.splice(0, 2, BETWEEN)
    for (const [index, letter] of letters.entries()) folded.set(letter, parts[index] ?? '')
  }
})

describe('names are compared without case', () => {
  test('for every letter whose other case is several letters', () => {
    const apart = LETTERS.filter((letter) =>
      [letter.toUpperCase(), letter.toLowerCase()].some((other) => foldOf(other) !== foldOf(letter)),
    )
    expect(apart.map(hex)).toEqual(['U+131'])
  })

  test('and no letter is taken for one that differs from it in more than case', () => {
    const merged = LETTERS.filter((letter) => {
      const [fold, composed] = [foldOf(letter), letter.normalize()]
      if (fold === composed) return false
      if (isOne(fold)) return !new RegExp(`^${composed}$`, 'iu').test(fold)
      return composed.toLowerCase().toUpperCase().toLowerCase().normalize() !== fold
    })
    expect(merged.map(hex)).toEqual([])
  })

  test('in every order of letters, for folding does not look at neighbours', async () => {
    const { rows } = await db.query(
      `select metrics.fold('ΣΑΣ ΣΑΣ') as sigma, metrics.fold('İIıi') as dots, metrics.fold('ŒUVRE ﬃ') as joined`,
    )
    expect(rows).toEqual([{ sigma: 'σασ σασ', dots: 'i\u0307iıi', joined: 'œuvre ffi' }])
  })

  test('and whether their letters are composed', async () => {
    const apart = LETTERS.filter((letter) => foldOf(letter) !== foldOf(letter.normalize()))
    expect(apart.map(hex)).toEqual([])
    const { rows } = await db.query(
      `select name from unnest($1::text[]) as name
       where metrics.fold(name) <> metrics.fold(normalize(name, nfd)) or metrics.fold(name) <> metrics.fold($2)`,
      [
        [
          'Nestl\u00e9 \u0390\u01f0',
          'NESTLE\u0301 \u03aa\u0301J\u030c',
          'nestl\u00c9 \u0399\u0308\u0301\u01f0',
        ],
        'Nestl\u00e9 \u0390\u01f0',
      ],
    )
    expect(rows).toEqual([])
  })

  test('and without white space around them, but with that between words', async () => {
    const blank = LETTERS.filter((letter) => /\p{White_Space}/u.test(letter))
    const others = ['\u200b', '\ufeff', '\u2060', '\u00ad']
    const { rows } = await db.query(
      `select around, metrics.fold(around || 'Café' || around || 'AU' || around) as fold
       from unnest($1::text[]) as around`,
      [[...blank, ...others]],
    )
    expect(rows.map(({ fold }) => fold)).toEqual([
      ...blank.map((around) => `café${around}au`.normalize()),
      ...others.map((around) => `${around}café${around}au${around}`),
    ])
    const { rows: ascii } = await db.query(
      `select metrics.fold(around || 'A' || around) as fold from unnest($1::text[]) as around`,
      [blank],
    )
    expect(new Set(ascii.map(({ fold }) => fold))).toEqual(new Set(['a']))
  })
})
