import { type Days, type Line, type Lines, linesOf, type Split } from '../charts/lines.ts'
import { type Sides, sum } from '../charts/sums.ts'
import type { Period } from './periods.ts'
import type { MetricReport } from './report-data.ts'

/** Values of fields that the rows of visibility must have. */
export type Filter = Readonly<Record<string, string>>

/** Whether a filter is on. */
export const isFiltered = (where: Filter): boolean => Object.keys(where).length > 0

/** A rate in a period, and in the one before when there is one, as the sums that it divides. */
export type Change = {
  readonly name: string
  readonly now: Sides
  readonly before?: Sides | undefined
  /** Its line over both periods. */
  readonly line: Line
}

/** What a metric says of a period, compared with the one before. */
export type Figures = {
  readonly metric: MetricReport
  /** The line that stands apart: the brand, or the total. */
  readonly lead: Change | undefined
  /** The other lines, by what the chart has a line for each of. */
  readonly others: readonly { readonly label: string; readonly changes: readonly Change[] }[]
  /** What a filter leaves as it is; empty without a filter. */
  readonly scope: string
  /** The period before, when the metric has all of it. */
  readonly before: Period['before']
  /** The points of both periods, of which the second begins on this day. */
  readonly points: Lines['points']
  readonly from: string
}

/** Returns the figures of a metric, unless it has no answers in the period. */
export function figuresOf(metric: MetricReport, { from, to, before }: Period, where: Filter): Figures[] {
  const { splits, sums } = metric
  // A metric that begins later has no whole period before.
  const earlier = before !== undefined && before.from >= (sums.days[0] ?? '9999') ? before : undefined
  const view = (split: Split, days: Days) => linesOf(sums, { split, where, ...days })
  const both = (split: Split) => view(split, { from: before?.from ?? from, to })
  const changesOf = (split: Split): Change[] => {
    const [past, trends] = [earlier ? view(split, earlier).lines : [], both(split).lines]
    return view(split, { from, to }).lines.map((line) => {
      const { name, lead } = line
      const same = (lines: readonly Line[]) => lines.find((each) => each.name === name && each.lead === lead)
      const before = same(past)
      return { name, now: sidesOf(line), before: before && sidesOf(before), line: same(trends) ?? line }
    })
  }
  const whole = splits.at(-1)
  if (whole === undefined) return []
  const all = splits.map((split) => ({ ...split, changes: changesOf(split) }))
  const lead = all.at(-1)?.changes.find(({ line }) => line.lead)
  const others = all
    .filter(({ field }) => field !== undefined)
    .map(({ label, changes }) => ({ label, changes: changes.filter(({ line }) => !line.lead) }))
  const hasAnswers = [lead, ...others.flatMap(({ changes }) => changes)].some((change) => change?.now.whole)
  const isWhole = isFiltered(where) && metric.name !== 'visibility'
  const scope = isWhole ? 'All models and markets.' : ''
  return hasAnswers
    ? [{ metric, lead, others, scope, before: earlier, points: both(whole).points, from }]
    : []
}

const sidesOf = ({ part, whole }: Line): Sides => ({ part: sum(part), whole: sum(whole) })
