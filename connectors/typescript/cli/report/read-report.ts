import { type Base, readBase } from '../manifest.ts'
import type { Row } from '../parquet.ts'
import { readCopy, requireBrands } from '../state.ts'
import type { Store } from '../store.ts'
import { BRANDS, METRICS } from '../streams.ts'
import { readDomains } from './read-domains.ts'
import { readFile } from './read-files.ts'
import { readFormula } from './read-metric.ts'
import type { BrandReport, MetricReport } from './report-data.ts'

const CITED = METRICS.find(({ endpoint }) => endpoint === 'citations')

/** Reads what the report shows of the brands of a copy. Throws `CommandError` when there is none. */
export async function readReport(store: Store): Promise<BrandReport[]> {
  const base = await readBase(store)
  const brandIds = requireBrands(base)
  const listed = new Map<string, Row>()
  for await (const row of readFile(store, base.manifest.brands?.path ?? '', BRANDS.columns))
    listed.set(String(row.id), row)
  const reports: BrandReport[] = []
  for (const brandId of brandIds) reports.push(await readBrand(base, brandId, listed.get(brandId)))
  return reports.sort((left, right) => left.name.localeCompare(right.name, 'en'))
}

async function readBrand(base: Base, brandId: string, brand: Row | undefined): Promise<BrandReport> {
  const { store, state } = await readCopy(base, brandId, base.manifest.states[brandId])
  const files = { store, files: state.files }
  const metrics: MetricReport[] = []
  for (const { formula, ...stream } of METRICS) {
    if (formula === null) continue
    metrics.push(await readFormula(files, { ...stream, formula }, brand?.name))
  }
  if (CITED === undefined) throw new Error('streams.json has no citations')
  const days = metrics.flatMap(({ sums }) => sums.days).sort()
  const [first, last] = [days[0], days.at(-1)]
  return {
    id: brandId,
    // A brand that the key no longer reads is not listed.
    name: String(brand?.display_name ?? brandId),
    url: String(brand?.url ?? ''),
    days: first === undefined || last === undefined ? null : { first, last },
    through: state.token,
    metrics,
    cited: await readDomains(files, CITED, last),
  }
}
