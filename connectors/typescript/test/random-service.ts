import { Writable } from 'node:stream'
import { PAGE_SIZE } from '../../../lib/rows/size.ts'
import type { Row } from '../../../lib/share/parquet.ts'
import { brandsDigestOf, digestOf } from '../../../site/reference/digest.ts'
import type { Random } from '../../../test/fixtures/random.ts'
import { openCopy } from '../cli/copy.ts'
import { readTable } from '../cli/delta/read-table.ts'
import { createProgress } from '../cli/progress.ts'
import type { Store } from '../cli/store.ts'
import { METRICS } from '../cli/streams.ts'
import { META, toArray } from './fake-api.ts'

export const STREAMS = METRICS.filter(({ endpoint }) => ['visibility', 'sentiment'].includes(endpoint))
export const BRANDS = ['1', '2', '3'].map((digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111`)
export const DATES = ['2026-09-01', '2026-09-15', '2026-10-01', '2026-10-02', '2026-11-05']

/** How many changes a page lists. */
const LISTED = 4

const BRAND = { displayName: '', url: '', siteUrl: '', industry: null, createdAt: '2026-01-01T00:00:00.000Z' }

/** Returns a service with days of two metrics. A random one is restated at a time. */
export function randomService({ below, pick }: Random) {
  let restated = 0
  /** In the order of their last changes. */
  const days = new Map<string, { readonly rows: readonly Row[]; readonly change: ChangedDay }>()
  const restate = (brand_id = pick(BRANDS)) => {
    const { endpoint, sent } = pick(STREAMS)
    const date = pick(DATES)
    // So few, that days return to what they were.
    const integer = 4 * BRANDS.indexOf(brand_id) + below(4)
    const rows = Array.from({ length: below(4) }, (_, index): Row => {
      const values = { date, uuid: `${index}`, text: `${index}`, integer, number: index / 2 }
      const cells = { ...values, boolean: true, timestamp: null, json: null }
      return Object.fromEntries(sent.map(({ name, type }) => [name, cells[type]]))
    })
    restated += 1
    const changed_at = `2026-11-01T00:00:00.${String(restated).padStart(6, '0')}Z`
    const proof = { rows: rows.length, totals: {}, digest: digestOf(rows, sent) }
    const key = [brand_id, endpoint, date].join()
    days.delete(key)
    const causes = { answers: changed_at }
    days.set(key, { rows, change: { brand_id, endpoint, date, ...proof, causes, changed_at } })
  }
  for (let count = 0; count < 20; count += 1) restate()

  /** Returns what a request gets with a key that reads these brands. Lists of changes have small pages. */
  const respond = ({ pathname, searchParams }: URL, readable: readonly string[]): Response => {
    const endpoint = pathname.split('/').at(-1)
    const query: Record<string, string> = Object.fromEntries(searchParams)
    const { brandId, since = '', cursor = since, fromDate = '2026-09-01', toDate = '9999' } = query
    if (brandId !== undefined && !readable.includes(brandId))
      return Response.json({ error: 'No brand.' }, { status: 404 })
    const changes = [...days.values()]
      .filter(({ change }) => readable.includes(change.brand_id) && change.changed_at > cursor)
      .filter(({ change }) => brandId === undefined || brandId === change.brand_id)
      .filter(({ change }) => fromDate <= change.date && change.date <= toDate)
    const rowsOf = () =>
      changes
        .filter(({ change }) => change.endpoint === endpoint)
        .sort((left, right) => (left.change.date < right.change.date ? -1 : 1))
        .flatMap(({ rows }) => rows)
    const brands = () => readable.map((id) => ({ id, name: id, ...BRAND }))
    const listed = changes.slice(0, LISTED).map(({ change }) => change)
    const data = { brands, changes: () => listed }[`${endpoint}`] ?? rowsOf
    const hasMore = endpoint === 'changes' && changes.length > LISTED
    const nextCursor = hasMore ? listed.at(-1)?.changed_at : null
    const pagination = { pageSize: PAGE_SIZE, hasMore, nextCursor }
    const headers = new Headers(brandId === undefined ? { 'X-Brands-Digest': brandsDigestOf(readable) } : {})
    return Response.json({ data: data(), pagination, meta: { ...META, fromDate } }, { headers })
  }
  /** Returns the rows of the days for which a condition holds, as {@link rowsIn} does those of a copy. */
  const rows = (isServed: (change: Change) => boolean = () => true) =>
    byEndpoint(async (endpoint) =>
      [...days.values()]
        .filter(({ change }) => change.endpoint === endpoint && isServed(change))
        .flatMap(({ change: { brand_id }, rows }) => rows.map((row) => ({ ...row, brand_id }))),
    )
  return { restate, respond, rows }
}

export type Change = { readonly brand_id: string; readonly endpoint: string; readonly date: string }
type ChangedDay = Change & { readonly causes: Readonly<Record<string, string>>; readonly changed_at: string }

/** Returns all rows of a copy by endpoint, as sorted texts. */
export async function rowsIn(store: Store): Promise<Record<string, string[]>> {
  const { metrics } = await openCopy(store)
  return byEndpoint(async (endpoint) => {
    const table = metrics.get(endpoint)
    return table === undefined ? [] : toArray(readTable(table))
  })
}

async function byEndpoint(rowsOf: (endpoint: string) => Promise<Row[]>): Promise<Record<string, string[]>> {
  const entries = STREAMS.map(async ({ endpoint }) => {
    const texts = (await rowsOf(endpoint)).map((row) => JSON.stringify(Object.entries(row).sort()))
    return [endpoint, texts.sort()] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

export const silent = createProgress({
  quiet: true,
  stream: new Writable({ write: (_chunk, _, done) => done() }),
})
