import type { Row } from '../../../lib/share/parquet.ts'
import { digestOf } from '../../../site/reference/digest.ts'
import type { ChangedDay } from '../src/index.ts'
import type { Stream } from './streams.ts'

/** Decimals have four digits after the point: in these units, sums are exact. */
const UNITS = 10_000

/** Describes how the rows of a day differ from what the service lists, such as `rows 2 instead of 3`; empty when they are equal. */
export function describeDifferences(
  rows: readonly Row[],
  listed: ChangedDay,
  { columns, sent }: Stream,
): string {
  const sumOf = (field: string) =>
    rows.reduce((sum, row) => sum + Math.round(Number(row[field]) * UNITS), 0) / UNITS
  const sums = Object.entries(listed.totals)
    // Later versions of the service can have more fields.
    .filter(([field]) => sent.some(({ name }) => name === field))
    .map(([field, expected]) => ({ field, actual: sumOf(field), expected }))
  const differences = [{ field: 'rows', actual: rows.length, expected: listed.rows }, ...sums]
    .filter(({ actual, expected }) => actual !== expected)
    .map(({ field, actual, expected }) => `${field} ${actual} instead of ${expected}`)
  const isKnown = rows.every((row) => Object.keys(row).length === columns.length)
  if (differences.length > 0 || !isKnown) return differences.join(', ')
  const digest = digestOf(rows, sent)
  return digest === listed.digest ? '' : `digest ${digest} instead of ${listed.digest}`
}
