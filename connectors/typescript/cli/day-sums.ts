import { digestText, rowNumber } from '../../../reference/digest.ts'
import type { ChangedDay } from '../src/index.ts'
import type { Row } from './parquet.ts'
import type { Stream } from './streams.ts'

/** Decimals have four digits after the point: in these units, sums are exact. */
const UNITS = 10_000

type DaySums = {
  rows: number
  /** The sums of the day's numbers, in units of 0.0001. */
  readonly totals: Record<string, number>
  /** Undefined when rows have fields that this version does not know. */
  digest: bigint | undefined
}

/** The sums of days, by `<endpoint>/<date>`. */
export type SumsByDay = Map<string, DaySums>

const none = (): DaySums => ({ rows: 0, totals: {}, digest: 0n })

/** Adds a row to the sums of its day. */
export function addRow(sums: SumsByDay, { endpoint, columns, sent }: Stream, row: Row): void {
  const day = `${endpoint}/${row.date}`
  const own = sums.get(day) ?? none()
  own.rows += 1
  const isKnown = Object.keys(row).length === columns.length
  own.digest = own.digest === undefined || !isKnown ? undefined : own.digest ^ rowNumber(row, sent)
  for (const [field, value] of Object.entries(row)) {
    if (typeof value === 'number') own.totals[field] = (own.totals[field] ?? 0) + Math.round(value * UNITS)
  }
  sums.set(day, own)
}

/** Describes how sums differ from those that the service lists, such as `rows 2 instead of 3`; empty when they are equal. */
export function describeDifferences(
  { rows, totals, digest }: Readonly<DaySums> = none(),
  listed: ChangedDay,
  { sent }: Stream,
): string {
  const fields = Object.entries(listed.totals)
    // Later versions of the service can have more fields.
    .filter(([field]) => sent.some(({ name }) => name === field))
    .map(([field, expected]) => ({ field, actual: (totals[field] ?? 0) / UNITS, expected }))
  const differences = [{ field: 'rows', actual: rows, expected: listed.rows }, ...fields]
    .filter(({ actual, expected }) => actual !== expected)
    .map(({ field, actual, expected }) => `${field} ${actual} instead of ${expected}`)
  if (differences.length > 0 || digest === undefined) return differences.join(', ')
  const actual = digestText(digest)
  return actual === listed.digest ? '' : `digest ${actual} instead of ${listed.digest}`
}
