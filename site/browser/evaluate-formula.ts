export type Row = Readonly<Record<string, unknown>>

type NumericRow = Readonly<Record<string, number>>

/** The two sides of a formula, compiled to functions of rows. */
export type CompiledFormula = {
  readonly part: (rows: readonly NumericRow[]) => number
  readonly whole: (rows: readonly NumericRow[]) => number
}

/** Sums a term over rows; compiled formulas call it. */
export const sum = (rows: readonly NumericRow[], term: (row: NumericRow) => number): number =>
  rows.reduce((total, row) => total + term(row), 0)

/** Returns the value of a formula in percent for each value of the field `per`; null where it would divide by 0. */
export function evaluateFormula(
  { part, whole }: CompiledFormula,
  rows: readonly Row[],
  per: string | undefined,
): Map<string, number | null> {
  const groups = Map.groupBy(rows, (row) => (per === undefined ? '' : String(row[per])))
  return new Map(
    [...groups].map(([name, group]) => {
      const numeric = group.map(toNumbers)
      const divisor = whole(numeric)
      return [name, divisor === 0 ? null : (part(numeric) / divisor) * 100]
    }),
  )
}

const toNumbers = (row: Row): NumericRow =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [field, Number(value)]))
