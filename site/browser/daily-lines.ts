import { utcDay } from 'd3-time'
import type { Formula } from '../../lib/operation.ts'
import { type CompiledFormula, evaluateFormula, type Row } from './evaluate-formula.ts'

/** A line of a chart. Figures and values are percentages; null where the formula has no value. */
export type Line = {
  readonly name: string
  /** The formula's value over all days. */
  readonly figure: number | null
  /** The formula's value on each day. */
  readonly values: readonly (number | null)[]
}

/** The lines of a chart over all days from the first to the last that has rows. */
export type DailyLines = { readonly days: readonly string[]; readonly lines: readonly Line[] }

type Metric = {
  readonly rows: readonly Row[]
  readonly formula: Formula
  readonly compiled: CompiledFormula
  /** Name of the line of all rows. */
  readonly name: string
}

/** Applies a formula to the rows of each day. The lines of a field's values are in the order of their figures. */
export function dailyLines({ rows, formula: { per, breakdown }, compiled, name }: Metric): DailyLines {
  const rowsByDay = Map.groupBy(rows, ({ date }) => String(date))
  const days = everyDay([...rowsByDay.keys()])
  const linesOf = (field: string | undefined): Line[] => {
    const daily = days.map((day) => evaluateFormula(compiled, rowsByDay.get(day) ?? [], field))
    return [...evaluateFormula(compiled, rows, field)]
      .map(([group, figure]) => ({
        name: field === undefined ? name : group,
        figure,
        values: daily.map((values) => values.get(group) ?? null),
      }))
      .sort((left, right) => (right.figure ?? -1) - (left.figure ?? -1))
  }
  return { days, lines: [...linesOf(per), ...(breakdown === undefined ? [] : linesOf(breakdown))] }
}

/** Returns the days from the first to the last of these, which are in ascending order. */
function everyDay(days: readonly string[]): string[] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  return utcDay
    .range(new Date(first), utcDay.offset(new Date(last), 1))
    .map((day) => day.toISOString().slice(0, 10))
}
