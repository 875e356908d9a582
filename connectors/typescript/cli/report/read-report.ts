import type { Row } from '../../../../lib/share/parquet.ts'
import { addDays } from '../../../../site/charts/days.ts'
import { splitsOf } from '../../../../site/charts/lines.ts'
import { addRows, FIELDS } from '../../../../site/charts/sums.ts'
import { joinRareDomains } from '../../../../site/charts/why.ts'
import { describeCause } from '../../../../site/reference/causes.ts'
import { firstSentence } from '../../../../site/reference/first-sentence.ts'
import { fieldsOf } from '../../../../site/reference/formula.ts'
import { countByPeriod } from '../../../../site/report/cited.ts'
import { PERIOD_NAMES } from '../../../../site/report/periods.ts'
import {
  type BrandReport,
  daysOf,
  type MetricReport,
  withBrand,
} from '../../../../site/report/report-data.ts'
import { brandsOf, type Copy, type MetricTable, requireCopy } from '../copy.ts'
import { coverageOf } from '../coverage.ts'
import { readTable } from '../delta/read-table.ts'
import { describeDays, readReplaced } from '../replaced-days.ts'
import { selectBrands } from '../scope.ts'
import type { Store } from '../store.ts'
import { formatMinute, formatNumber } from '../text.ts'

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
  const tables = [...copy.metrics.values()].filter(({ stream }) => stream.formula !== null)
  const rates = await Promise.all(
    tables.filter((table) => !hasPages(table)).map((table) => readMetric(table)),
  )
  const begun = chosen.map((brand) => {
    const metrics = rates.map((metricOf) => metricOf(brand.id))
    return { ...brand, rates: metrics, cited: countByPeriod(PERIOD_NAMES, daysOf(metrics)) }
  })
  const citedBy = new Map(begun.map(({ id, cited }) => [id, cited]))
  const countRow = (row: Row) => citedBy.get(String(row.brand_id))?.add(row)
  const pages = await Promise.all(tables.filter(hasPages).map((table) => readMetric(table, countRow)))
  const coverage = coverageOf(copy)
  const replacedOf = await readChanges(copy)
  const brands = begun.map(({ id, name, displayName, url, rates, cited }) => {
    const metrics = [...rates, ...pages.map((metricOf) => metricOf(id))]
    const [asOf, days] = [coverage?.brandIds.includes(id) ? coverage.since : null, daysOf(metrics)]
    const shown = {
      metrics: withBrand(metrics, name),
      cited: cited.result(),
      replaced: replacedOf({ id, days }),
    }
    return { id, name: displayName, url, days, asOf, ...shown }
  })
  return brands.sort((left, right) => left.name.localeCompare(right.name, 'en'))
}

/** Whether the rows of a table are cited pages. */
const hasPages = ({ columns }: MetricTable): boolean => columns.some(({ name }) => name === 'url')

const MOST_REPLACED = 12

/** Returns the days that the latest syncs replaced, by brand. The last two days of a brand are new rather than replaced. */
async function readChanges(copy: Copy) {
  const entries = (await readReplaced(copy, { isRecent: true })).reverse()
  const titles = new Map([...copy.metrics.values()].map(({ name, stream }) => [name, stream.title]))
  return ({ id, days }: Pick<BrandReport, 'id' | 'days'>): BrandReport['replaced'] =>
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
async function readMetric(
  { stream, ...table }: MetricTable,
  onRow = (_: Row): void => {},
): Promise<(brandId: string) => MetricReport> {
  const { name, title, description, formula } = stream
  if (formula === null) throw new Error(`${name} has no formula`)
  const brands = new Map<string, ReturnType<typeof addRows>>()
  const sumsOf = (brandId: string) => brands.get(brandId) ?? addRows(formula)
  const sides = [...fieldsOf(formula.part), ...fieldsOf(formula.whole)]
  for await (const row of readTable(table, ['brand_id', 'date', 'url', ...FIELDS, ...sides])) {
    const brandId = String(row.brand_id)
    const sums = sumsOf(brandId)
    brands.set(brandId, sums)
    sums.add(row)
    onRow(row)
  }
  const [about, splits] = [aboutOf(description), splitsOf({ title, formula })]
  return (brandId) => ({ name, title, about, splits, sums: joinRareDomains(sumsOf(brandId).result()) })
}

/** Returns what a metric measures: the first sentence of its description, without its verb. */
function aboutOf(description: string): string {
  const what = firstSentence(description)
    .replace(/^Returns /, '')
    .replaceAll('`', '')
  return what.slice(0, 1).toUpperCase() + what.slice(1)
}
