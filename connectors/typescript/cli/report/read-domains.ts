import type { MetricTable } from '../copy.ts'
import { firstDay, PERIOD_NAMES } from './periods.ts'
import { readTable } from './read-files.ts'
import type { CitedDomain, CitedDomains } from './report-data.ts'

const TOP = 10

/** The citations of each domain in each period. */
type Sums = Map<string | null, number[]>

/** Returns the citations of each brand by domain and period, through the last day of the brand. */
export async function readDomains(
  table: MetricTable,
  lastDayOf: (brandId: string) => string | undefined,
): Promise<(brandId: string) => CitedDomains> {
  const brands = new Map<string, Sums>()
  const starts = new Map<string, string[]>()
  for await (const row of readTable(table, ['brand_id', 'date', 'domain', 'citations'])) {
    const [brandId, date] = [String(row.brand_id), String(row.date)]
    const domains: Sums = brands.get(brandId) ?? new Map()
    brands.set(brandId, domains)
    const first = starts.get(brandId) ?? PERIOD_NAMES.map((period) => firstDay(period, lastDayOf(brandId)))
    starts.set(brandId, first)
    const name = row.domain === null ? null : String(row.domain)
    const sums = domains.get(name) ?? PERIOD_NAMES.map(() => 0)
    const count = Number(row.citations)
    domains.set(
      name,
      sums.map((sum, period) => (date < (first[period] ?? '') ? sum : sum + count)),
    )
  }
  return (brandId) => ({ title: table.stream.title, periods: topOf(brands.get(brandId) ?? new Map()) })
}

function topOf(domains: Sums): CitedDomains['periods'] {
  const periods = PERIOD_NAMES.map((name, period) => {
    const cited = [...domains]
      .map(([domain, sums]) => ({ domain, citations: sums[period] ?? 0 }))
      .filter(({ citations }) => citations > 0)
      .sort(byCitations)
    const citations = cited.reduce((sum, domain) => sum + domain.citations, 0)
    return [name, { citations, top: cited.slice(0, TOP) }]
  })
  return Object.fromEntries(periods)
}

const byCitations = (left: CitedDomain, right: CitedDomain): number =>
  right.citations - left.citations || ((left.domain ?? '') < (right.domain ?? '') ? -1 : 1)
