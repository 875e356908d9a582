import { sum } from 'd3-array'
import type { FormulaSums } from './formula-sums.ts'

/** A line of a chart. Figures and values are percentages; null where the formula has no value. */
export type Line = {
  readonly name: string
  /** The formula's value over all days. */
  readonly figure: number | null
  /** The formula's value on each day. */
  readonly values: readonly (number | null)[]
}

/** The lines of a chart over all days from the first to the last that has rows. */
export type DailyLines = {
  readonly days: readonly string[]
  /** Whether the first line stands apart from the others, which are in the order of their figures. */
  readonly lead: boolean
  readonly lines: readonly Line[]
}

/** Divides the sums of each line. */
export function dailyLines({ days, lead, lines }: FormulaSums): DailyLines {
  const divided = lines.map(
    ({ name, part, whole }): Line => ({
      name,
      figure: percentage(sum(part), sum(whole)),
      values: days.map((_, day) => percentage(part[day] ?? 0, whole[day] ?? 0)),
    }),
  )
  const first = lead ? 1 : 0
  const others = divided.slice(first).sort((left, right) => (right.figure ?? -1) - (left.figure ?? -1))
  return { days, lead, lines: [...divided.slice(0, first), ...others] }
}

const percentage = (part: number, whole: number): number | null => (whole === 0 ? null : (part / whole) * 100)
