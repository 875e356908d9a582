import type { Formula, Term } from '../../lib/page/operation.ts'
import { addDays, DAY_MS } from './days.ts'

export type Row = Readonly<Record<string, unknown>>

/** The formula of a metric, and what its chart can have a line for each of. */
export type Metric = {
  readonly title: string
  readonly formula: Pick<Formula, 'part' | 'whole'> & {
    readonly per?: string | undefined
    readonly breakdown?: string | undefined
  }
}

/** The sides of a formula on each day, over the rows with the same values of {@link FIELDS}. */
export type Cell = {
  readonly values: Readonly<Record<string, string>>
  readonly part: readonly number[]
  readonly whole: readonly number[]
}

/** Sums of the sides of a formula. */
export type Sides = { readonly part: number; readonly whole: number }

/** Sums over the days that have rows, and over the days after each that have none, of which a long gap has the first. */
export type Sums = { readonly days: readonly string[]; readonly cells: readonly Cell[] }

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Adds up sides. */
export const total = (sides: readonly Sides[]): Sides => ({
  part: sum(sides.map(({ part }) => part)),
  whole: sum(sides.map(({ whole }) => whole)),
})

/** Returns a rate as a share: NaN when there is nothing to divide by. */
export const shareOf = ({ part, whole }: Sides): number => part / whole

/** The fields of rows that charts tell apart, or filter by. `is_brand` tells the brand from its competitors. */
export const FIELDS = ['model_id', 'market', 'domain', 'competitor_name', 'entity_name', 'is_brand']

/** Whether the rows of a metric have fields by which its change can be explained. */
export const hasParts = ({ cells }: Sums): boolean =>
  cells.some(({ values }) => Object.keys(values).length > 0)

/** So many days without rows show that a line ends. Days can be centuries apart. */
const MOST_EMPTY = 31

/** Adds up the sides of a formula, which are sums, row by row. */
export function addRows({ part, whole }: Metric['formula']) {
  const dates = new Set<string>()
  type Days = Map<string, [part: number, whole: number]>
  const cells = new Map<string, Pick<Cell, 'values'> & { byDay: Days }>()
  return {
    add(row: Row): void {
      const present = FIELDS.filter((field) => row[field] !== undefined)
      const values = Object.fromEntries(present.map((field) => [field, String(row[field] ?? 'unknown')]))
      const key = JSON.stringify(values)
      const { byDay } = cells.get(key) ?? { byDay: new Map() }
      if (byDay.size === 0) cells.set(key, { values, byDay })
      const date = String(row.date)
      dates.add(date)
      const [partBefore = 0, wholeBefore = 0] = byDay.get(date) ?? []
      byDay.set(date, [partBefore + sideOf(part, row), wholeBefore + sideOf(whole, row)])
    },
    result(): Sums {
      const days = withGaps([...dates].sort())
      const side = (byDay: Days, index: 0 | 1) => days.map((day) => byDay.get(day)?.[index] ?? 0)
      const all = [...cells.values()]
      return {
        days,
        cells: all.map(({ values, byDay }) => ({ values, part: side(byDay, 0), whole: side(byDay, 1) })),
      }
    },
  }
}

/** Returns the sums of a brand's visibility as a cell among those of its competitors, on their days. */
export function brandCell(own: Sums, days: readonly string[], name: string): Cell {
  const places = new Map(own.days.map((day, place) => [day, place]))
  const side = (of: 'part' | 'whole') =>
    days.map((day) => sum(own.cells.map((cell) => cell[of][places.get(day) ?? -1] ?? 0)))
  return { values: { competitor_name: name, is_brand: 'true' }, part: side('part'), whole: side('whole') }
}

/** Returns the value of a side of a formula for one row. */
const sideOf = (side: readonly Term[], row: Row): number =>
  side.reduce<number>((total, term) => {
    if (typeof term === 'string') return total + Number(row[term])
    return total + Math.round((Number(row[term.rate]) * Number(row[term.of])) / 100)
  }, 0)

/** Returns days, which are in ascending order, with those after each that have no rows. */
const withGaps = (days: readonly string[]): string[] =>
  days.flatMap((date, index) => {
    const distance = (Date.parse(days[index + 1] ?? date) - Date.parse(date)) / DAY_MS
    return Array.from({ length: Math.min(Math.max(1, distance), 1 + MOST_EMPTY) }, (_, after) =>
      addDays(date, after),
    )
  })
