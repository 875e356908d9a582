/** Characters that a cursor is written in. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Other spellings of a cursor's bytes, and bytes before, within and behind them. */
export const respellings = (cursor: string): string[] => [
  ...[
    '=',
    '==',
    '===',
    'A',
    'AA',
    'AAA',
    'AAAA',
    ' ',
    '\n',
    '\0',
    '\t',
    '.',
    ',',
    '%3D',
    '\u200b',
    cursor,
  ].flatMap((more) => [cursor + more, more + cursor, cursor.slice(0, 9) + more + cursor.slice(9)]),
  cursor.replaceAll('-', '+').replaceAll('_', '/'),
  encodeURIComponent(`${cursor}=`),
  cursor.toUpperCase(),
  cursor.toLowerCase(),
  cursor.slice(1),
  `C${cursor.slice(1)}`,
  [...cursor].reverse().join(''),
  ...[...ALPHABET].map((last) => cursor.slice(0, -1) + last),
]

/** A cursor of which one bit, or a byte, or a stretch was changed after it was sealed. */
export function tampered(cursor: string, at: number, how: number): string {
  const bytes = Buffer.from(cursor.slice(1), 'base64url')
  const index = at % bytes.length
  const changed = [
    () => bytes.writeUInt8(bytes.readUInt8(index) ^ (1 << ((how >> 2) % 8)), index),
    () => bytes.writeUInt8((bytes.readUInt8(index) + 1 + (how % 255)) % 256, index),
    () => bytes.copyWithin(index, 0, how % bytes.length),
    () => bytes.fill(how, index),
  ]
  changed[how % changed.length]?.()
  return `c${bytes.toString('base64url')}`
}
