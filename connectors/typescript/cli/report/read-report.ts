import type { Row } from '../../../../lib/parquet.ts'
import { brandsOf, requireCopy } from '../copy.ts'
import { coverageOf } from '../coverage.ts'
import type { Store } from '../store.ts'
import { readDomains } from './read-domains.ts'
import { readTable } from './read-files.ts'
import { readFormula } from './read-metric.ts'
import type { BrandReport, MetricReport } from './report-data.ts'

/** Reads what the report shows of the brands of a copy. Throws `CommandError` when there is none. */
export async function readReport(store: Store): Promise<BrandReport[]> {
  const copy = await requireCopy(store)
  const brands = new Map<string, Row>()
  for await (const row of readTable(copy.brands)) brands.set(String(row.id), row)
  const readers: ((brandId: string) => MetricReport)[] = []
  for (const table of copy.metrics.values()) {
    const { formula, ...stream } = table.stream
    if (formula === null) continue
    readers.push(await readFormula(table, { ...stream, formula }, (brandId) => brands.get(brandId)?.name))
  }
  const metrics = new Map(
    [...brandsOf(copy), ...brands.keys()].map((brandId) => [brandId, readers.map((read) => read(brandId))]),
  )
  const daysOf = (brandId: string) => (metrics.get(brandId) ?? []).flatMap(({ sums }) => sums.days).sort()
  const citations = copy.metrics.get('citations')
  if (citations === undefined) throw new Error('streams.json has no citations')
  const cited = await readDomains(citations, (brandId) => daysOf(brandId).at(-1))
  const coverage = coverageOf(copy)
  const reports = [...metrics].map(([id, metrics]) => {
    const brand = brands.get(id)
    const [first, last] = [daysOf(id)[0], daysOf(id).at(-1)]
    return {
      id,
      // A brand that the key no longer reads is not listed.
      name: String(brand?.display_name ?? id),
      url: String(brand?.url ?? ''),
      days: first === undefined || last === undefined ? null : { first, last },
      through: coverage?.brandIds.includes(id) ? coverage.token : null,
      metrics,
      cited: cited(id),
    }
  })
  return reports.sort((left, right) => left.name.localeCompare(right.name, 'en'))
}
