import { type Line, type Lines, linesOf, rateOf, type Split } from '../charts/lines.ts'
import type { Period } from './periods.ts'
import type { MetricReport } from './report-data.ts'
import type { Change, Measure } from './sentences.ts'

/** Values of fields that the rows of visibility must have. */
export type Filter = Readonly<Record<string, string>>

/** Whether a filter is on. */
export const isFiltered = (where: Filter): boolean => Object.keys(where).length > 0

/** What a metric says of a period, compared with the one before. */
export type Figures = {
  readonly metric: MetricReport
  /** The line that stands apart: the brand, or the total. */
  readonly lead: Change | undefined
  readonly others: readonly Change[]
  /** What a filter leaves as it is; empty without a filter. */
  readonly scope: string
  /** The lead over both periods, of which the second begins on this day. */
  readonly trend: Lines & { readonly from: string }
}

/** Returns the figures of a metric, unless it has no answers in the period. */
export function figuresOf(metric: MetricReport, { from, to, before }: Period, where: Filter): Figures[] {
  const { splits, sums } = metric
  const [detailed, whole] = [splits[0], splits.at(-1)]
  if (detailed === undefined || whole === undefined) return []
  // A metric that begins later has no whole period before.
  const earlier = before !== undefined && before.from >= (sums.days[0] ?? '9999') ? before : undefined
  const changesOf = (split: Split) => {
    const linesBefore = earlier ? linesOf(sums, { split, where, ...earlier }).lines : []
    return linesOf(sums, { split, where, from, to }).lines.map((line) => {
      const same = linesBefore.find(({ name, lead }) => name === line.name && lead === line.lead)
      return { name: line.name, lead: line.lead, now: measure(line), before: same && measure(same) }
    })
  }
  const lead = changesOf(whole).find(({ lead }) => lead)
  const others = changesOf(detailed).filter(({ lead }) => !lead)
  const trend = { ...linesOf(sums, { split: whole, where, from: before?.from ?? from, to }), from }
  const hasAnswers = [lead, ...others].some((change) => change?.now.answers)
  const isWhole = isFiltered(where) && metric.name !== 'visibility'
  const scope = isWhole ? 'All models and markets.' : ''
  return hasAnswers ? [{ metric, lead, others, scope, trend }] : []
}

const measure = (line: Line): Measure => ({
  rate: rateOf(line),
  answers: line.whole.reduce((sum, answers) => sum + answers, 0),
})
