import type { Split } from '../charts/lines.ts'
import { brandCell, type Sums } from '../charts/sums.ts'
import type { Cited } from './cited.ts'
import type { BrandDays } from './periods.ts'

/** What the report shows of a metric that has a formula. */
export type MetricReport = {
  /** Name of its table, or of its endpoint. */
  readonly name: string
  readonly title: string
  /** What the metric measures, in a sentence. */
  readonly about: string
  readonly splits: readonly Split[]
  readonly sums: Sums
}

/** What the report shows of a brand. */
export type BrandReport = {
  readonly id: string
  readonly name: string
  readonly url: string
  /** The first and the last day that has rows; none when there are no rows. */
  readonly days: BrandDays | null
  /** The rows contain all changes up to this time. Null while it is not known. */
  readonly asOf: string | null
  readonly metrics: readonly MetricReport[]
  /** By the name of the period. */
  readonly cited: Readonly<Record<string, Cited>>
  /** Days that a sync replaced, the latest first: when, the metric, the days, the numbers of rows, and why. */
  readonly replaced: readonly (readonly string[])[]
}

/** Returns the first and the last day that the rows of metrics have. */
export function daysOf(metrics: readonly MetricReport[]): BrandReport['days'] {
  const days = metrics.flatMap(({ sums }) => sums.days).sort()
  const [first, last] = [days[0], days.at(-1)]
  return first === undefined || last === undefined ? null : { first, last }
}

/** Adds the brand to its competitors, whose visibility is measured like its own. */
export function withBrand(metrics: readonly MetricReport[], name: string): MetricReport[] {
  const own = metrics.find(({ name }) => name === 'visibility')?.sums
  return metrics.map((metric) => {
    const { days, cells } = metric.sums
    if (metric.name !== 'competitors' || own === undefined || days.length === 0) return metric
    return { ...metric, sums: { days, cells: [brandCell(own, days, name), ...cells] } }
  })
}
