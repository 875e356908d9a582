import { type ChartState, chart } from '../charts/chart.ts'
import { addDays } from '../charts/days.ts'
import { createElement } from '../charts/elements.ts'
import { halvesOf, splitsOf } from '../charts/lines.ts'
import { addRows, brandCell, hasParts, type Row, type Sums } from '../charts/sums.ts'
import type { Change } from '../charts/why.ts'
import type { Endpoint } from '../reference/endpoint.ts'
import { countByPeriod, countCitations } from '../report/cited.ts'
import { citedTables } from '../report/cited-tables.ts'
import { type BrandReport, daysOf, type MetricReport, withBrand } from '../report/report-data.ts'
import { loadPart } from './on-demand.ts'
import { type ApiRequest, type Reading, readWindow } from './request.ts'

export { showBrands } from '../report/brands.ts'

/** What the charts of the page need besides the rows. */
type Source = {
  readonly endpoints: readonly Endpoint[]
  readonly requestOf: (endpoint: Endpoint) => ApiRequest
  /** A row of `/brands`. */
  readonly brand: Row
  readonly reading: Reading
}

type Window = Source & {
  readonly endpoint: Endpoint
  /** All rows of the window, when they are known. */
  readonly rows: readonly Row[] | undefined
  /** What the reader chose in the last chart, which this chart changes. */
  readonly state: ChartState
  readonly onChange: () => void
}

/** Whether the rows of an endpoint are cited pages. */
const hasPages = ({ fields }: Endpoint): boolean => fields.some(({ name }) => name === 'url')

/** Renders what all rows of a window say: the chart of the endpoint's formula, and the most cited pages. */
export async function drawWindow({ endpoint, rows, state, onChange, ...source }: Window): Promise<Node[]> {
  const { summary: title, formula } = endpoint
  const { name, url } = source.brand
  const cited = hasPages(endpoint) ? countCitations() : undefined
  const adder = formula && addRows(formula)
  const add = (row: Row) => {
    adder?.add(row)
    cited?.add(row)
  }
  if (rows === undefined) await readWindow(source.requestOf(endpoint), add, source.reading)
  else for (const row of rows) add(row)
  const tables = cited ? citedTables(cited.result(), { domain: String(url), rate: formula && title }) : []
  if (formula === undefined || adder === undefined) return tables
  const { days, cells } = adder.result()
  if (days.length === 0) return []
  const own = formula.per === 'competitor_name' ? await visibilityOf(source) : undefined
  const sums = { days, cells: own ? [brandCell(own, days, String(name)), ...cells] : cells }
  const splits = splitsOf({ formula, title })
  const halves = hasParts(sums) ? halvesOf(days) : undefined
  return [
    chart({
      ...{ title, splits, sums, state, onChange, brand: String(name), source: location.host },
      explanation: halves && (() => explain({ title, label: title, splits, sums, ...halves })),
    }),
    ...tables,
  ]
}

/** Renders why a rate moved, as soon as that part of the page is loaded. */
export function explain(change: Change): Node {
  const element = createElement('div')
  loadPart(
    import('../charts/why.ts'),
    ({ whyItMoved, joinRareDomains }) =>
      element.append(whyItMoved({ ...change, sums: joinRareDomains(change.sums) })),
    element,
  )
  return element
}

/** Adds up the brand's own visibility. */
async function visibilityOf({ endpoints, requestOf, reading }: Source): Promise<Sums | undefined> {
  const endpoint = endpoints.find(({ id }) => id === 'visibility')
  if (endpoint?.formula === undefined) return undefined
  const adder = addRows(endpoint.formula)
  await readWindow(requestOf(endpoint), adder.add, reading)
  return adder.result()
}

/** The days of the first screen: the longest of its periods and as many before, up to a day of the last week. */
const DAYS = 67
export const PERIODS = ['Last 7 days', 'Last 30 days']

/**
 * Reads what the report shows of a brand. Yields it before it has the citations, of which there can be many, and after.
 */
export async function* readReport({
  endpoints,
  requestOf,
  brand,
  reading,
}: Source): AsyncGenerator<BrandReport> {
  const fromDate = addDays(new Date().toISOString(), 1 - DAYS)
  let asOf: string | null = null
  async function read(endpoint: Endpoint, onRow: (row: Row) => void): Promise<MetricReport[]> {
    const { id: name, summary: title, formula } = endpoint
    if (formula === undefined) return []
    const adder = addRows(formula)
    const { query, ...request } = requestOf(endpoint)
    const add = (row: Row) => {
      adder.add(row)
      onRow(row)
    }
    const time = await readWindow({ ...request, query: { ...query, fromDate } }, add, reading)
    if (asOf === null || String(time) < asOf) asOf = time
    return [{ name, title, about: '', splits: splitsOf({ formula, title }), sums: adder.result() }]
  }
  const report = (metrics: readonly MetricReport[], cited: BrandReport['cited']): BrandReport => ({
    ...{ id: String(brand.id), name: String(brand.displayName), url: String(brand.url) },
    ...{ days: daysOf(metrics), asOf, cited, replaced: [], metrics: withBrand(metrics, String(brand.name)) },
  })
  const readAll = async (of: readonly Endpoint[], onRow: (row: Row) => void) =>
    (await Promise.all(of.map((endpoint) => read(endpoint, onRow)))).flat()
  const rates = await readAll(
    endpoints.filter((each) => !hasPages(each)),
    () => {},
  )
  yield report(rates, {})
  const cited = countByPeriod(PERIODS, daysOf(rates))
  const pages = await readAll(endpoints.filter(hasPages), cited.add)
  yield report([...rates, ...pages], cited.result())
}
