export type Row = Readonly<Record<string, unknown>>

/** A formula's two sides, as functions of rows. */
export type Figure = {
  readonly part: (rows: readonly Numbers[]) => number
  readonly whole: (rows: readonly Numbers[]) => number
}

/** A row as a formula sees it: only numbers are added up. */
export type Numbers = Readonly<Record<string, number>>

export const sum = (rows: readonly Numbers[], of: (row: Numbers) => number): number =>
  rows.reduce((total, row) => total + of(row), 0)

/** The figure of some rows in percent, one for each value of `per`; null where the formula has no value. */
export function figuresOf(
  { part, whole }: Figure,
  rows: readonly Row[],
  per: string | undefined,
): Map<string, number | null> {
  const groups = new Map<string, Numbers[]>()
  for (const row of rows) {
    const name = per === undefined ? '' : String(row[per])
    const numbers = Object.fromEntries(Object.entries(row).map(([field, value]) => [field, Number(value)]))
    groups.set(name, [...(groups.get(name) ?? []), numbers])
  }
  return new Map(
    [...groups].map(([name, its]) => [name, whole(its) === 0 ? null : (part(its) / whole(its)) * 100]),
  )
}
