import { type Row, sum } from '../charts/sums.ts'
import { type BrandDays, periodOf } from './periods.ts'

/** Citations of a page or domain: all, and those that count as owned. */
export type CitedRow = { readonly name: string; readonly citations: number; readonly owned: number }

/** The citations of a period, and what is cited most. Owned pages come first. */
export type Cited = {
  readonly citations: number
  readonly owned: number
  readonly pages: readonly CitedRow[]
  /** The last one, without a name, has the citations whose domain is unknown. */
  readonly domains: readonly CitedRow[]
}

/** How many owned pages, other pages and domains are listed. */
const MOST = { owned: 10, others: 15, domains: 10 }

type Counts = Map<string, { citations: number; owned: number }>

/** Counts the citations of pages and domains from a first day on. */
export function countCitations(from = '') {
  const [pages, domains]: [Counts, Counts] = [new Map(), new Map()]
  return {
    add({ date, url, domain, citations, owned_citations, is_owned }: Row): void {
      if (String(date) < from) return
      const owned = Number(owned_citations ?? (is_owned ? citations : 0))
      for (const [counts, name] of [[pages, url] as const, [domains, domain ?? ''] as const]) {
        const count = counts.get(String(name)) ?? { citations: 0, owned: 0 }
        counts.set(String(name), count)
        count.citations += Number(citations)
        count.owned += owned
      }
    },
    result(): Cited {
      const [all, sites] = [ranked(pages), ranked(domains)]
      return {
        citations: sum(all.map(({ citations }) => citations)),
        owned: sum(all.map(({ owned }) => owned)),
        pages: [
          ...all.filter(({ owned }) => owned > 0).slice(0, MOST.owned),
          ...all.filter(({ owned }) => owned === 0).slice(0, MOST.others),
        ],
        domains: [
          ...sites.filter(({ name }) => name !== '').slice(0, MOST.domains),
          ...sites.filter(({ name }) => name === ''),
        ],
      }
    },
  }
}

/** Returns what is cited most first. */
const ranked = (counts: Counts): CitedRow[] =>
  [...counts]
    .map(([name, count]) => ({ name, ...count }))
    .sort((left, right) => right.citations - left.citations || (left.name < right.name ? -1 : 1))

/** Counts the citations of each period of a brand, which has these days. */
export function countByPeriod(names: readonly string[], days: BrandDays | null) {
  const counters = days ? names.map((name) => ({ name, of: countCitations(periodOf(name, days).from) })) : []
  return {
    add(row: Row): void {
      for (const { of } of counters) of.add(row)
    },
    result: (): Record<string, Cited> =>
      Object.fromEntries(counters.map(({ name, of }) => [name, of.result()])),
  }
}
