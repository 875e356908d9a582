import type { Formula } from '../../../../lib/page/operation.ts'
import type { Row } from '../../../../lib/share/parquet.ts'
import { addDays } from '../../../../site/charts/days.ts'
import { splitsOf } from '../../../../site/charts/lines.ts'
import { addRows, brandCell, FIELDS, type Sums } from '../../../../site/charts/sums.ts'
import { joinRareDomains } from '../../../../site/charts/why.ts'
import { describeCause } from '../../../../site/reference/causes.ts'
import { firstSentence } from '../../../../site/reference/first-sentence.ts'
import { fieldsOf } from '../../../../site/reference/formula.ts'
import { PERIOD_NAMES, periodOf } from '../../../../site/report/periods.ts'
import type {
  BrandReport,
  CitedDomains,
  MetricReport,
  ReplacedRow,
} from '../../../../site/report/report-data.ts'
import { brandsOf, type Copy, type MetricTable, requireCopy } from '../copy.ts'
import { coverageOf } from '../coverage.ts'
import { describeDays, readReplaced } from '../replaced-days.ts'
import type { Store } from '../store.ts'
import { formatMinute, formatNumber } from '../text.ts'
import { readTable } from './read-files.ts'

/** Reads what the report shows of the brands of a copy. Throws `CommandError` when there is none. */
export async function readReport(store: Store): Promise<BrandReport[]> {
  const copy = await requireCopy(store)
  const rows = new Map<string, Row>()
  for await (const row of readTable(copy.brands)) rows.set(String(row.id), row)
  const readers: ((brandId: string) => MetricReport)[] = []
  for (const table of copy.metrics.values()) {
    const { formula, name, title, description } = table.stream
    if (formula === null) continue
    const about = aboutOf(description)
    const [splits, sumsOf] = [splitsOf({ title, formula }), await readSums(table, formula)]
    readers.push((brandId) => ({ name, title, about, splits, sums: sumsOf(brandId) }))
  }
  const coverage = coverageOf(copy)
  const brands = [...new Set([...brandsOf(copy), ...rows.keys()])].map((id) => {
    const { display_name, url = '', name = id } = rows.get(id) ?? {}
    const metrics = readers.map((read) => read(id))
    const days = metrics.flatMap(({ sums }) => sums.days).sort()
    const [first, last] = [days[0], days.at(-1)]
    return {
      id,
      // A brand that the key no longer reads is not listed.
      name: String(display_name ?? id),
      url: String(url),
      days: first === undefined || last === undefined ? null : { first, last },
      asOf: coverage?.brandIds.includes(id) ? coverage.since : null,
      metrics: metrics.map((metric) => withBrand(metric, metrics, String(name))),
    }
  })
  const citations = copy.metrics.get('citations')
  if (citations === undefined) throw new Error('No endpoint has the citations')
  const citedBy = await readDomains(citations, brands)
  const replacedOf = await readChanges(copy)
  return brands
    .map((brand) => ({ ...brand, cited: citedBy(brand.id), replaced: replacedOf(brand) }))
    .sort((left, right) => left.name.localeCompare(right.name, 'en'))
}

const MOST_REPLACED = 12

/** Returns the days that the latest syncs replaced, by brand. The last two days of a brand are new rather than replaced. */
async function readChanges(copy: Copy): Promise<(brand: Pick<BrandReport, 'id' | 'days'>) => ReplacedRow[]> {
  const entries = (await readReplaced(copy, { isRecent: true })).reverse()
  const titles = new Map([...copy.metrics.values()].map(({ name, stream }) => [name, stream.title]))
  return ({ id, days }) =>
    entries
      .filter(({ brandId, from }) => brandId === id && days !== null && from < addDays(days.last, -1))
      .slice(0, MOST_REPLACED)
      .map(({ time, table, causes, before, after, ...entry }) => [
        formatMinute(time),
        titles.get(table) ?? table,
        describeDays(entry),
        before.rows === after.rows ? '' : `${formatNumber(before.rows)} → ${formatNumber(after.rows)}`,
        causes.map(describeCause).join(', '),
      ])
}

/** Adds up the formula of a metric for each brand. */
async function readSums(table: MetricTable, formula: Formula): Promise<(brandId: string) => Sums> {
  const brands = new Map<string, ReturnType<typeof addRows>>()
  const sumsOf = (brandId: string) => brands.get(brandId) ?? addRows(formula)
  const names = ['brand_id', 'date', ...FIELDS, ...fieldsOf(formula.part), ...fieldsOf(formula.whole)]
  for await (const row of readTable(table, names)) {
    const brandId = String(row.brand_id)
    const sums = sumsOf(brandId)
    brands.set(brandId, sums)
    sums.add(row)
  }
  return (brandId) => joinRareDomains(sumsOf(brandId).result())
}

/** Adds the brand to its competitors, whose visibility is measured like its own. */
function withBrand(metric: MetricReport, metrics: readonly MetricReport[], name: string): MetricReport {
  const own = metrics.find(({ name }) => name === 'visibility')?.sums
  const { days, cells } = metric.sums
  if (metric.name !== 'competitors' || own === undefined || days.length === 0) return metric
  return { ...metric, sums: { days, cells: [brandCell(own, days, name), ...cells] } }
}

/** Returns what a metric measures: the first sentence of its description, without its verb. */
function aboutOf(description: string): string {
  const what = firstSentence(description).replace(/^Returns /, '')
  return what.slice(0, 1).toUpperCase() + what.slice(1)
}

const TOP = 10

/** Returns the citations of each brand by domain in each period, of which the brand has these days. */
async function readDomains(
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
