import { group, max, mean, sum } from 'd3-array'
import { type FormulaSums, percentage } from './formula-sums.ts'

/** What a point of a chart stands for. The last week ends with the last day. */
export type Unit = 'day' | 'week'

/** The days of a point. The first week also has the days that make no whole week. */
export type Point = { readonly first: string; readonly last: string; readonly days: number }

/** A line of a chart. Figures and values are percentages; null where the formula has no value. */
export type Line = {
  readonly name: string
  /** The formula's value over all days. */
  readonly figure: number | null
  /** The formula's value at each point. */
  readonly values: readonly (number | null)[]
}

/** The lines of a chart over all days from the first to the last that has rows. */
export type ChartLines = {
  readonly unit: Unit
  readonly points: readonly Point[]
  /** Whether the first line stands apart from the others. */
  readonly lead: boolean
  readonly lines: readonly Line[]
}

/** Lines through more points cannot be read. */
const MOST_DAYS = 120
/** Rates of fewer answers a day are mostly chance. In a few days, that matters less than seeing each. */
const FEWEST = { answers: 10, days: 28 }

/** Divides the sums of each line. The rate of a week divides its sums: it is no average of rates. */
export function chartLines(sums: FormulaSums, unit = unitFor(sums)): ChartLines {
  const { days, lead, lines } = sums
  const weeks = Math.max(1, Math.floor(days.length / 7))
  const weekOf = (day: number) => Math.min(weeks - 1, Math.floor((days.length - 1 - day) / 7))
  const points = [...group(days.keys(), (day) => (unit === 'day' ? day : weekOf(day))).values()]
  return {
    unit,
    lead,
    points: points.map((of) => ({
      first: days[of[0] ?? 0] ?? '',
      last: days[of.at(-1) ?? 0] ?? '',
      days: of.length,
    })),
    lines: lines.map(({ name, part, whole }) => ({
      name,
      figure: percentage(sum(part), sum(whole)),
      values: points.map((of) =>
        percentage(
          sum(of, (day) => part[day]),
          sum(of, (day) => whole[day]),
        ),
      ),
    })),
  }
}

function unitFor({ days, lines }: FormulaSums): Unit {
  // Rare lines are no reason to hide the days of the others.
  const answers = max(lines, ({ whole }) => mean(whole)) ?? 0
  const areFew = days.length > FEWEST.days && answers < FEWEST.answers
  return days.length > MOST_DAYS || areFew ? 'week' : 'day'
}
