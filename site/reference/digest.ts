import { createHash } from 'node:crypto'
import type { Column } from './streams.ts'

/** A row of a metric, by field. */
type Row = Readonly<Record<string, unknown>>

/** The columns that the endpoint sends, in its order. */
type Columns = readonly Pick<Column, 'field' | 'type'>[]

const SEPARATOR = '\u001f'

/** Returns the text of a row, which no other row has (docs/specification.md, Digest). */
export const rowText = (row: Row, columns: Columns): string =>
  columns.map(({ field, type }) => cellText(row[field], type)).join(SEPARATOR)

/** Returns the number of a row: that of its text. */
export const rowNumber = (row: Row, columns: Columns): bigint => numberOf(rowText(row, columns))

/** Returns the number of a text: the first 60 bits of its MD5. */
const numberOf = (text: string): bigint =>
  BigInt(`0x${createHash('md5').update(text).digest('hex').slice(0, 15)}`)

/** Returns the digest of a day's rows, in any order, as `/changes` lists it. */
export const digestOf = (rows: readonly Row[], columns: Columns): string =>
  digestText(rows.reduce((digest, row) => digest ^ rowNumber(row, columns), 0n))

/** Returns the digest of brands, in any order, as `X-Brands-Digest` has it. */
export const brandsDigestOf = (ids: readonly string[]): string =>
  digestText(ids.reduce((digest, id) => digest ^ numberOf(id), 0n))

/** Returns the text of the XOR of numbers. */
export const digestText = (digest: bigint): string => digest.toString(16).padStart(15, '0')

function cellText(cell: unknown, type: Column['type']): string {
  if (cell === null) return '\\N'
  // Rates and weights. Also writes -0 as 0.0000.
  if (type === 'number') return Number(cell).toFixed(4)
  return String(cell).replaceAll('\\', '\\\\').replaceAll(SEPARATOR, '\\_')
}
