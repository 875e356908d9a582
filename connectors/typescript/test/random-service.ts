import { brandsDigestOf, digestOf } from '../../../reference/digest.ts'
import type { Random } from '../../../test/fixtures/random.ts'
import type { Row } from '../cli/parquet.ts'
import { METRICS } from '../cli/streams.ts'
import { META } from './fake-api.ts'

export const STREAMS = METRICS.filter(({ endpoint }) => ['visibility', 'sentiment'].includes(endpoint))
export const BRANDS = ['1', '2', '3'].map((digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111`)
const DATES = ['2026-09-01', '2026-09-15', '2026-10-01', '2026-10-02', '2026-11-05']

/** How many changes a page lists. */
const LISTED = 4

const BRAND = { displayName: '', url: '', siteUrl: '', industry: null, createdAt: '2026-01-01T00:00:00.000Z' }

/** Returns a service with days of two metrics. A random one is restated at a time. */
export function randomService({ below, pick }: Random) {
  let restated = 0
  const randomDay = () => {
    const { endpoint, sent } = pick(STREAMS)
    const [brand_id, date] = [pick(BRANDS), pick(DATES)]
    restated += 1
    const rows = Array.from({ length: below(4) }, (_, index): Row => {
      const values = { date, uuid: `${index}`, text: `${index}`, integer: restated, number: index / 2 }
      const cells = { ...values, boolean: true, timestamp: null }
      return Object.fromEntries(sent.map(({ name, type }) => [name, cells[type]]))
    })
    const changed_at = `2026-11-01T00:00:00.${String(restated).padStart(6, '0')}Z`
    const digest = digestOf(rows, sent)
    return { rows, change: { brand_id, endpoint, date, rows: rows.length, totals: {}, digest, changed_at } }
  }
  /** In the order of their last changes. */
  const days = new Map<string, ReturnType<typeof randomDay>>()
  const restate = () => {
    const day = randomDay()
    const { brand_id, endpoint, date } = day.change
    const key = [brand_id, endpoint, date].join()
    days.delete(key)
    days.set(key, day)
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
    const pagination = { pageSize: 1000, hasMore, nextCursor }
    const headers = new Headers(brandId === undefined ? { 'X-Brands-Digest': brandsDigestOf(readable) } : {})
    return Response.json({ data: data(), pagination, meta: { ...META, fromDate } }, { headers })
  }
  /** Returns all rows of an endpoint, as a copy has them. */
  const rowsOf = (endpoint: string): Row[] =>
    [...days.values()]
      .filter(({ change }) => change.endpoint === endpoint)
      .flatMap(({ change: { brand_id }, rows }) => rows.map((row) => ({ brand_id, ...row })))
  return { restate, respond, rowsOf }
}
