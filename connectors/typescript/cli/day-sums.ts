import type { Row } from './parquet.ts'

/** Decimals have four digits after the point: in these units, sums are exact. */
const UNITS = 10_000

/** The number of rows of a day, and the sums of its numbers, in units of 0.0001. */
type DaySums = { rows: number; readonly totals: Record<string, number> }

/** The sums of days, by `<endpoint>/<date>`. */
export type SumsByDay = Map<string, DaySums>

const NONE: DaySums = { rows: 0, totals: {} }

/** Adds a row to the sums of its day. */
export function addRow(sums: SumsByDay, day: string, row: Row): void {
  const own = sums.get(day) ?? { rows: 0, totals: {} }
  own.rows += 1
  for (const [field, value] of Object.entries(row)) {
    if (typeof value === 'number') own.totals[field] = (own.totals[field] ?? 0) + Math.round(value * UNITS)
  }
  sums.set(day, own)
}

/** Describes how sums differ from those that the service lists, such as `rows 2 instead of 3`; empty when they are equal. */
export function describeDifferences(
  { rows, totals }: Readonly<DaySums> = NONE,
  listed: Readonly<DaySums>,
): string {
  const fields = Object.entries(listed.totals).map(([field, expected]) => ({
    field,
    actual: (totals[field] ?? 0) / UNITS,
    expected,
  }))
  return [{ field: 'rows', actual: rows, expected: listed.rows }, ...fields]
    .filter(({ actual, expected }) => actual !== expected)
    .map(({ field, actual, expected }) => `${field} ${actual} instead of ${expected}`)
    .join(', ')
}
