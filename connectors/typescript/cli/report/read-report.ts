import type { Formula } from '../../../../lib/page/operation.ts'
import type { Row } from '../../../../lib/share/parquet.ts'
import { addDays } from '../../../../site/charts/days.ts'
import { splitsOf } from '../../../../site/charts/lines.ts'
import { addRows, FIELDS, type Sums } from '../../../../site/charts/sums.ts'
import { joinRareDomains } from '../../../../site/charts/why.ts'
import { describeCause } from '../../../../site/reference/causes.ts'
import { firstSentence } from '../../../../site/reference/first-sentence.ts'
import { fieldsOf } from '../../../../site/reference/formula.ts'
import { countCitations } from '../../../../site/report/cited.ts'
import { PERIOD_NAMES, periodOf } from '../../../../site/report/periods.ts'
import {
  type BrandReport,
  daysOf,
  type MetricReport,
  type ReplacedRow,
  withBrand,
} from '../../../../site/report/report-data.ts'
import { brandsOf, type Copy, type MetricTable, requireCopy } from '../copy.ts'
import { coverageOf } from '../coverage.ts'
import { describeDays, readReplaced } from '../replaced-days.ts'
import { selectBrands } from '../scope.ts'
import type { Store } from '../store.ts'
import { formatMinute, formatNumber } from '../text.ts'
import { readTable } from './read-files.ts'

/**
 * Reads what the report shows of the brands of a copy: those with rows, or some of them by id or name. Throws
 * `CommandError` when there is no copy, and `UsageError` for a brand that has no rows.
 */
export async function readReport(store: Store, wanted?: readonly string[]): Promise<BrandReport[]> {
  const copy = await requireCopy(store)
  const rows = new Map<string, Row>()
  for await (const row of readTable(copy.brands)) rows.set(String(row.id), row)
  const listed = [...brandsOf(copy)].map((id) => {
    const { display_name, url = '', name = id } = rows.get(id) ?? {}
    // A brand that the key no longer reads is not listed.
    return { id, name: String(name), displayName: String(display_name ?? id), url: String(url) }
  })
  const chosen = wanted ? selectBrands(listed, wanted) : listed
  const readers: ((brandId: string) => MetricReport)[] = []
  for (const table of copy.metrics.values()) {
    const { formula, name, title, description } = table.stream
    if (formula === null) continue
    const about = aboutOf(description)
    const [splits, sumsOf] = [splitsOf({ title, formula }), await readSums(table, formula)]
    readers.push((brandId) => ({ name, title, about, splits, sums: sumsOf(brandId) }))
  }
  const coverage = coverageOf(copy)
  const brands = chosen.map(({ id, name, displayName, url }) => {
    const metrics = readers.map((read) => read(id))
    const asOf = coverage?.brandIds.includes(id) ? coverage.since : null
    return { id, name: displayName, url, days: daysOf(metrics), asOf, metrics: withBrand(metrics, name) }
  })
  const citationShare = copy.metrics.get('citation-share')
  if (citationShare === undefined) throw new Error('No endpoint has the owned citations')
  const citedBy = await readCited(citationShare, brands)
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

/** Returns what a metric measures: the first sentence of its description, without its verb. */
function aboutOf(description: string): string {
  const what = firstSentence(description).replace(/^Returns /, '')
  return what.slice(0, 1).toUpperCase() + what.slice(1)
}

/** Counts the citations of each brand in each period, of which the brand has these days. */
async function readCited(
  table: MetricTable,
  brands: readonly Pick<BrandReport, 'id' | 'days'>[],
): Promise<(brandId: string) => BrandReport['cited']> {
  const counters = new Map(
    brands.map(({ id, days }) => {
      const counterOf = (name: string) =>
        days ? [{ name, counter: countCitations(periodOf(name, days).from) }] : []
      return [id, PERIOD_NAMES.flatMap(counterOf)]
    }),
  )
  for await (const row of readTable(table, [
    'brand_id',
    'date',
    'url',
    'domain',
    'citations',
    'owned_citations',
  ]))
    for (const { counter } of counters.get(String(row.brand_id)) ?? []) counter.add(row)
  return (brandId) =>
    Object.fromEntries((counters.get(brandId) ?? []).map(({ name, counter }) => [name, counter.result()]))
}
