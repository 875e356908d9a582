import { sum } from 'd3-array'
import { utcDay } from 'd3-time'
import type { Formula, Term } from '../lib/operation.ts'

export type Row = Readonly<Record<string, unknown>>

/** The two sides of a formula over the rows of a line, on each day. */
export type LineSums = {
  readonly name: string
  readonly part: readonly number[]
  readonly whole: readonly number[]
}

/** Sums over all days from the first to the last that has rows. */
export type FormulaSums = {
  readonly days: readonly string[]
  /** Whether the first line stands apart from the others. */
  readonly lead: boolean
  /** In the order of their figures, which gives each its colour. */
  readonly lines: readonly LineSums[]
}

export type Metric = {
  readonly formula: Pick<Formula, 'part' | 'whole'> & {
    readonly per?: string | undefined
    readonly breakdown?: string | undefined
  }
  /** Name of the line of all rows. */
  readonly name: string
}

/** Adds up the sides of a formula, which are sums, row by row. */
export function formulaSums({ formula, name }: Metric) {
  const { per, breakdown } = formula
  const fields = breakdown === undefined ? [per] : [per, breakdown]
  const groups = fields.map((field) => ({ field, lines: new Map<string, SumsByDay>() }))
  const dates = new Set<string>()
  return {
    add(row: Row): void {
      const date = String(row.date)
      const [part, whole] = [rowValue(formula.part, row), rowValue(formula.whole, row)]
      dates.add(date)
      for (const { field, lines } of groups) {
        const line = field === undefined ? name : String(row[field])
        const byDay = lines.get(line) ?? new Map<string, Sums>()
        const sums = byDay.get(date)
        byDay.set(date, { part: part + (sums?.part ?? 0), whole: whole + (sums?.whole ?? 0) })
        lines.set(line, byDay)
      }
    },
    result(): FormulaSums {
      const days = everyDay([...dates].sort())
      const lines = groups.flatMap((group) =>
        [...group.lines]
          .map(([name, byDay]) => ({
            name,
            part: days.map((day) => byDay.get(day)?.part ?? 0),
            whole: days.map((day) => byDay.get(day)?.whole ?? 0),
          }))
          .sort(byFigure),
      )
      return { days, lead: breakdown !== undefined, lines }
    },
  }
}

/** Returns part / whole × 100; null when there is nothing to divide by. */
export const percentage = (part: number, whole: number): number | null =>
  whole === 0 ? null : (part / whole) * 100

const figureOf = ({ part, whole }: LineSums): number => percentage(sum(part), sum(whole)) ?? -1

const byFigure = (left: LineSums, right: LineSums): number => figureOf(right) - figureOf(left)

type Sums = { readonly part: number; readonly whole: number }
type SumsByDay = Map<string, Sums>

/** Returns the value of a side of a formula for one row. */
const rowValue = (side: readonly Term[], row: Row): number =>
  side.reduce<number>((total, term) => {
    if (typeof term === 'string') return total + Number(row[term])
    return total + Math.round((Number(row[term.rate]) * Number(row[term.of])) / 100)
  }, 0)

/** Returns the days from the first to the last of these, which are in ascending order. */
function everyDay(days: readonly string[]): string[] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  return utcDay
    .range(new Date(first), utcDay.offset(new Date(last), 1))
    .map((day) => day.toISOString().slice(0, 10))
}
