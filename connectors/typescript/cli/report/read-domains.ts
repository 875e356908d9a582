import type { MetricTable } from '../copy.ts'
import { PERIOD_NAMES, periodOf } from './periods.ts'
import { readTable } from './read-files.ts'
import type { BrandReport, CitedDomains } from './report-data.ts'

const TOP = 10

/** Returns the citations of each brand by domain in each period, of which the brand has these days. */
export async function readDomains(
  table: MetricTable,
  brands: readonly Pick<BrandReport, 'id' | 'days'>[],
): Promise<(brandId: string) => BrandReport['cited']> {
  const periods = new Map(
    brands.map(({ id, days }) => [
      id,
      PERIOD_NAMES.flatMap((name) =>
        days ? [{ name, from: periodOf(name, days).from, domains: new Map<string, number>() }] : [],
      ),
    ]),
  )
  for await (const row of readTable(table, ['brand_id', 'date', 'domain', 'citations'])) {
    const domain = String(row.domain ?? '')
    for (const { from, domains } of periods.get(String(row.brand_id)) ?? [])
      if (String(row.date) >= from) domains.set(domain, (domains.get(domain) ?? 0) + Number(row.citations))
  }
  return (brandId) =>
    Object.fromEntries((periods.get(brandId) ?? []).map(({ name, domains }) => [name, citedOf(domains)]))
}

function citedOf(domains: ReadonlyMap<string, number>): CitedDomains {
  const known = [...domains].filter(([domain]) => domain !== '')
  known.sort(([left, many], [right, more]) => more - many || (left < right ? -1 : 1))
  const unknown = [...domains].filter(([domain]) => domain === '')
  const total = [...domains.values()].reduce((sum, citations) => sum + citations, 0)
  return { domains: [...known.slice(0, TOP), ...unknown], total }
}
