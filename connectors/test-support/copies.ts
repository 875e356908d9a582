import { inject } from 'vitest'
import { readStreams } from '../../site/reference/streams.ts'
import type { Row } from '../certify/service.ts'

/** A document of `/days`. */
type Day = {
  readonly endpoint: string
  readonly brand_id: string
  readonly changed_at: string
  readonly row_count: number
  readonly offset: number
  readonly rows: readonly Row[]
}

/** The rows of the tables of a copy, by their names. */
export type Copy = Readonly<Record<string, readonly Row[]>>

const streams = readStreams()
const metrics = streams.filter(({ kind }) => kind === 'metric')

/** Types of columns in DuckDB and PostgreSQL, by those of their values in JavaScript. */
const TYPES: Readonly<Record<string, string>> = { number: 'float8', boolean: 'boolean', object: 'json' }

/** Returns the columns of a table's rows, with their types. */
export const columnsOf = (rows: readonly Row[]): string[][] =>
  Object.keys(rows[0] ?? {}).map((name) => {
    const value = rows.find((row) => row[name] !== null)?.[name]
    return [`"${name}"`, TYPES[typeof value] ?? 'text']
  })

const pull = async (path: string, key: string) =>
  (await fetch(`${inject('serviceUrl')}/api/export/v1/${path}`, { headers: { 'X-API-Key': key } })).json()

/** Returns what each loader stores of the service's data, with the days of a brand that left. Airbyte appends. */
export async function readCopies(key: string): Promise<Readonly<Record<'dlt' | 'airbyte' | 'singer', Copy>>> {
  const { data: brands }: { data: Row[] } = await pull('brands', key)
  const days: Day[] = []
  for (let cursor = '', hasMore = true; hasMore; ) {
    const page = await pull(`days?cursor=${encodeURIComponent(cursor)}`, key)
    days.push(...page.data)
    cursor = page.pagination.nextCursor
    hasMore = page.pagination.hasMore
  }
  days.push(...days.slice(-6).map((day) => ({ ...day, brand_id: '00000000-0000-0000-0000-000000000000' })))
  const perMetric = (rowsOf: (day: Day) => readonly Row[]): Copy =>
    Object.fromEntries(
      metrics.map(({ name, endpoint }) => [
        name,
        days.filter((day) => day.endpoint === endpoint).flatMap(rowsOf),
      ]),
    )
  const columns = streams.find(({ kind }) => kind === 'brands')?.columns ?? []
  const renamed = brands.map((brand) =>
    Object.fromEntries(columns.map(({ name, field }) => [name, brand[field]])),
  )
  return {
    dlt: {
      brands: renamed,
      days: days.map(({ offset: _, rows: __, ...day }) => day),
      ...perMetric(({ brand_id, rows }) => rows.map((row) => ({ brand_id, ...row }))),
    },
    airbyte: { brands: renamed, ...perMetric(documentsOfAirbyte) },
    singer: {
      brands: [{ id: 'brands', brands: renamed }],
      ...perMetric(({ endpoint: _, offset: __, ...day }) => [day]),
    },
  }
}

/** Returns a day in parts, each of two syncs, after an earlier version in parts with more rows. */
function documentsOfAirbyte(day: Day): Row[] {
  const parts = [
    { ...day, rows: day.rows.slice(0, 1) },
    ...(day.row_count > 1 ? [{ ...day, offset: 1, rows: day.rows.slice(1) }] : []),
  ]
  const changed_at = new Date(Date.parse(day.changed_at) - 3_600_000).toISOString()
  const earlier = [0, 1, 2].map((offset) => ({
    ...day,
    changed_at,
    digest: 'earlier',
    offset,
    rows: day.rows.slice(0, 1),
  }))
  return [...earlier, ...parts, ...parts].map((document, index) => ({
    ...document,
    _airbyte_extracted_at: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
  }))
}
