import type { FormulaSums } from '../../../../charts/formula-sums.ts'

/** What the report shows of a metric that has a formula. */
export type MetricReport = {
  readonly title: string
  /** What the metric measures, in a sentence. */
  readonly about: string
  readonly sums: FormulaSums
}

/** A domain, or null for the URLs whose domain is unknown. */
export type CitedDomain = { readonly domain: string | null; readonly citations: number }

/** The domains that answers cite most, and the citations of all domains, by the name of the period. */
export type CitedDomains = {
  readonly title: string
  readonly periods: Readonly<
    Record<string, { readonly citations: number; readonly top: readonly CitedDomain[] }>
  >
}

/** What the report shows of a brand. */
export type BrandReport = {
  readonly id: string
  readonly name: string
  readonly url: string
  /** The first and the last day that has rows; none when no file has rows. */
  readonly days: { readonly first: string; readonly last: string } | null
  /** The files contain all changes through this time. Null while it is not known. */
  readonly through: string | null
  readonly metrics: readonly MetricReport[]
  readonly cited: CitedDomains
}
