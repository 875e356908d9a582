import type { Row } from './parquet.ts'

/** Decimals have four digits after the point: in these units, sums are exact. */
const UNITS = 10_000

/** The number of rows of a day, and the sums of its numbers, in units of 0.0001. */
export type DaySums = { readonly rows: number; readonly totals: Readonly<Record<string, number>> }

const NONE: DaySums = { rows: 0, totals: {} }

/** Returns the sums with those of one more row. */
export function addRow({ rows, totals }: DaySums = NONE, row: Row): DaySums {
  const sums = { ...totals }
  for (const [field, value] of Object.entries(row)) {
    if (typeof value === 'number') sums[field] = (sums[field] ?? 0) + Math.round(value * UNITS)
  }
  return { rows: rows + 1, totals: sums }
}

/** Describes how sums differ from those that the service lists, such as `2 rows instead of 3`; empty when they are equal. */
export function describeDifferences({ rows, totals }: DaySums = NONE, listed: DaySums): string {
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
