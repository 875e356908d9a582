import type { Split } from '../charts/lines.ts'
import type { Sums } from '../charts/sums.ts'

/** What the report shows of a metric that has a formula. */
export type MetricReport = {
  /** Name of its table. */
  readonly name: string
  readonly title: string
  /** What the metric measures, in a sentence. */
  readonly about: string
  readonly splits: readonly Split[]
  readonly sums: Sums
}

/** Citations by domain: those cited most, then those without a domain, which is empty. */
export type CitedDomains = {
  readonly domains: readonly (readonly [domain: string, citations: number])[]
  readonly total: number
}

/** Days that a sync replaced, as a row of texts: when, the metric, the days, the numbers of rows, and why. */
export type ReplacedRow = readonly string[]

/** What the report shows of a brand. */
export type BrandReport = {
  readonly id: string
  readonly name: string
  readonly url: string
  /** The first and the last day that has rows; none when no file has rows. */
  readonly days: { readonly first: string; readonly last: string } | null
  /** The files contain all changes up to this time. Null while it is not known. */
  readonly asOf: string | null
  readonly metrics: readonly MetricReport[]
  /** By the name of the period. */
  readonly cited: Readonly<Record<string, CitedDomains>>
  /** The latest first. */
  readonly replaced: readonly ReplacedRow[]
}
