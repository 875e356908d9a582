import type { Row } from '../../../lib/share/parquet.ts'
import { digestOf } from '../../../site/reference/digest.ts'
import type { ChangedDay, ExportApi } from '../src/index.ts'
import type { Batch } from './batch.ts'
import type { BrandRun, Changes } from './changes.ts'
import type { Copy, MetricTable } from './copy.ts'
import { endpointsOf } from './coverage.ts'
import { CommandError } from './errors.ts'
import { daysOf, proofOf, statisticsOf } from './files.ts'
import type { Progress } from './progress.ts'
import type { Scope } from './scope.ts'
import type { Stream } from './streams.ts'
import { counted } from './text.ts'
import { type FetchWindow, fetchWindows, type KnownDay, pagesOf } from './windows.ts'

export type Plan = {
  readonly table: MetricTable
  readonly windows: readonly FetchWindow[]
  /** Listed days whose rows the copy lacks, by date. */
  readonly needed: ReadonlyMap<string, ChangedDay>
  /** The proofs of the days that it has. */
  readonly known: ReadonlyMap<string, string>
}

export type Source = { readonly api: ExportApi; readonly progress: Progress; readonly batch: Batch }

/** Returns what has to be fetched of a brand, for each endpoint that lacks something. */
export function planFetches(
  { copy, batch, scope }: PlanOptions,
  brand: Pick<BrandRun, 'id'>,
  changes: Changes,
): Plan[] {
  const { toDate } = scope
  return endpointsOf(scope).flatMap((endpoint) => {
    const table = copy.metrics.get(endpoint)
    if (table === undefined) return []
    const isWithin = (date: string) => date >= changes.fromDate && date <= toDate
    // Days that the plan no longer reaches stay as they are.
    const days = changes.days.filter((day) => day.endpoint === endpoint && isWithin(day.date))
    const dates = days.map(({ date }) => date).sort()
    const [from, to] = changes.isFull ? [changes.fromDate, toDate] : [dates.at(0), dates.at(-1)]
    const known = knownDays(table, brand.id, from, to)
    const listed = new Map<string, ChangedDay>()
    // A full list has every day that has, or had, rows.
    for (const date of changes.isFull ? known.keys() : [])
      listed.set(date, { brandId: brand.id, endpoint, date, ...EMPTY })
    for (const day of days) listed.set(day.date, day)
    const needed = new Map<string, ChangedDay>()
    for (const [date, day] of listed) {
      const proof = batch?.proofOf(table, brand.id, date) ?? known.get(date) ?? NO_ROWS
      if (proof !== proofOf(day)) needed.set(date, day)
    }
    if (needed.size === 0) return []
    return [{ table, needed, known, windows: fetchWindows(daysAround(needed, listed, known)) }]
  })
}

type PlanOptions = { readonly copy: Copy; readonly batch?: Batch; readonly scope: Scope }

const EMPTY = { rows: 0, digest: '0'.repeat(15), totals: {}, causes: {}, changedAt: '' }
const NO_ROWS = proofOf(EMPTY)
/** No day of the service: it is fetched again, in place of both. */
export const IN_TWO_FILES = proofOf({ rows: 0, digest: 'twice' })

/** Returns the days of a brand in a table and a window, and their proofs. */
function knownDays(
  { snapshot }: MetricTable,
  brandId: string,
  from = '9999-12-31',
  to = '0000-01-01',
): Map<string, string> {
  const known = new Map<string, string>()
  for (const file of snapshot.files.values()) {
    const { first, last } = statisticsOf(file)
    if (first > to || last < from) continue
    for (const [date, proof] of Object.entries(daysOf(file)[brandId] ?? {}))
      if (date >= from && date <= to) known.set(date, known.has(date) ? IN_TWO_FILES : proof)
  }
  return known
}

/** Returns the needed days that have rows, and those between them that may have some, in ascending order. */
function daysAround(
  needed: ReadonlyMap<string, ChangedDay>,
  listed: ReadonlyMap<string, ChangedDay>,
  known: ReadonlyMap<string, string>,
): KnownDay[] {
  const rows = new Map([...known].map(([date, proof]) => [date, Number.parseInt(proof, 10)]))
  for (const [date, day] of listed) rows.set(date, day.rows)
  return [...rows]
    .map(([date, rows]) => ({ date, rows, isNeeded: rows > 0 && needed.has(date) }))
    .sort((left, right) => (left.date < right.date ? -1 : 1))
}

/**
 * Fetches what is planned of a brand, and adds the days whose rows are those of the list to the batch. Returns whether all
 * were: the others have changed since, or were altered on the way. Then `problem` of the brand says what differs.
 */
export async function fetchDays(source: Source, brand: BrandRun, plans: readonly Plan[]): Promise<boolean> {
  brand.problem = ''
  const expected = plans.flatMap(({ windows }) => windows.map(({ rows }) => rows))
  for (const rows of expected) source.progress.expect(rows, pagesOf(rows))
  for (const plan of plans) {
    for (const [date, { rows }] of plan.needed)
      if (rows === 0) await prove(source, brand, { ...plan, date, rows: [] })
    for (const window of plan.windows) await fetchWindow(source, brand, { ...plan, window })
  }
  return brand.problem === ''
}

type Fetch = Plan & { readonly window: FetchWindow }

/** Rows are up to 20 times as large as those of full pages, or as many came since they were listed. */
const mostPages = (rows: number): number => 20 * (pagesOf(rows) + 1)

async function fetchWindow(source: Source, brand: BrandRun, fetch: Fetch): Promise<void> {
  const { from, to, rows: expected } = fetch.window
  const { endpoint } = fetch.table.stream
  const left = new Set<string>()
  for (const [date, { rows }] of fetch.needed) if (rows > 0 && date >= from && date <= to) left.add(date)
  const end = async (date: string, rows: readonly Row[]) => {
    if (left.delete(date)) await prove(source, brand, { ...fetch, date, rows })
  }
  let day: Row[] = []
  let pages = 0
  const window = { brandId: brand.id, fromDate: from, toDate: to }
  for await (const { rows } of source.api.metric(endpoint).pages(window)) {
    pages += 1
    if (pages > mostPages(expected))
      throw new CommandError(
        `${endpoint} from ${from} to ${to} has more than ${pages - 1} pages instead of ${counted(expected, 'row')}. Check what alters responses between the service and this machine.`,
      )
    source.progress.receive(rows.length)
    for (const sent of rows) {
      const date = day[0]?.date
      if (date !== undefined && date !== sent.date) {
        await end(String(date), day)
        day = []
      }
      day.push({ ...sent, brand_id: brand.id })
    }
  }
  await end(String(day[0]?.date), day)
  for (const date of left) await end(date, [])
  source.progress.log('fetched', { brand: brand.id, endpoint, from, to, rows: expected })
}

type FetchedDay = Omit<Plan, 'windows'> & { readonly date: string; readonly rows: readonly Row[] }

async function prove(
  { batch }: Source,
  brand: BrandRun,
  { table, needed, date, rows }: FetchedDay,
): Promise<void> {
  const listed = needed.get(date)
  if (listed === undefined) return
  const differences = describeDifferences(rows, listed, table.stream)
  if (differences !== '') brand.problem = `${table.stream.endpoint} of ${date} has ${differences}`
  else await batch.add(table, { brandId: brand.id, date, proof: proofOf(listed), rows })
}

/** Decimals have four digits after the point: in these units, sums are exact. */
const UNITS = 10_000

/** Describes how the rows of a day differ from what the service lists, such as `rows 2 instead of 3`; empty when they are equal. */
function describeDifferences(rows: readonly Row[], listed: ChangedDay, { columns, sent }: Stream): string {
  const sumOf = (field: string) =>
    rows.reduce((sum, row) => sum + Math.round(Number(row[field]) * UNITS), 0) / UNITS
  const sums = Object.entries(listed.totals)
    // Later versions of the service can have more fields.
    .filter(([field]) => sent.some(({ name }) => name === field))
    .map(([field, expected]) => ({ field, actual: sumOf(field), expected }))
  const differences = [{ field: 'rows', actual: rows.length, expected: listed.rows }, ...sums]
    .filter(({ actual, expected }) => actual !== expected)
    .map(({ field, actual, expected }) => `${field} ${actual} instead of ${expected}`)
  const isKnown = rows.every((row) => Object.keys(row).length === columns.length)
  if (differences.length > 0 || !isKnown) return differences.join(', ')
  const digest = digestOf(rows, sent)
  return digest === listed.digest ? '' : `digest ${digest} instead of ${listed.digest}`
}
