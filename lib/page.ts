import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { readHeader } from './access.ts'
import { type Cell, unavailable } from './db.ts'
import { type PreparedStatement, prepareStatement } from './prepared-statement.ts'
import type { RequestLog } from './request-log.ts'
import { activeKey, canRead } from './scope.ts'

/** Rows of a full page (specification, section 8). */
export const PAGE_SIZE = 1000

/** Rows of a page whose full size would be larger than Neon's limit: of the longest URLs, all of whose bytes are escaped. */
const SHORT_PAGE_SIZE = 100

/** A metric's stored rows, each with its JSON text in `line`, and the columns that order them, the first being the date. */
export type PagedRows = { readonly table: PgTable; readonly key: readonly string[] }

/**
 * One page: its rows as JSON objects with commas between them, how many they are, and the key of its last row when
 * another page follows.
 */
export type Page = { readonly lines: string; readonly rows: number; readonly next: readonly string[] | null }

// A line holds no line break of its own: JSON escapes those of a text.
const BETWEEN_LINES = ',\n'

/**
 * The statements of a metric's first page and of its later ones: access, brand, window and page in one, of one row.
 * Its first cell is a JSON array: key, organization, plan, brand, the day through which nothing waits to be computed
 * anew, the number of rows found, and how many a page holds. Their lines follow, one more than the page holds when
 * another page follows, and then the key of the page's last row. There is no row at all without a live key.
 * Placeholders: those of `activeKey`, `brand_id`, `windows` (JSON: a window for each plan), `today`, and `after_0` ….
 */
export function pageQueries(rows: PagedRows): { first: PreparedStatement; next: PreparedStatement } {
  const after = rows.key.map(
    (name, index) =>
      sql`${sql.placeholder(`after_${index}`)}::${sql.raw(columnOf(rows.table, name).getSQLType())}`,
  )
  const columns = list(rows.key.map((name) => sql`${sql.identifier(name)}`))
  const width = 2 + rows.key.length
  const kept = (from: SQL) =>
    prepareStatement(
      statement(rows, from, PAGE_SIZE),
      width,
      prepareStatement(statement(rows, from, SHORT_PAGE_SIZE), width),
    )
  return {
    first: kept(sql`(brand_id, date) >= (reading.brand_id, reading.first)`),
    next: kept(sql`(brand_id, ${columns}) > (reading.brand_id, ${list(after)}) and date >= reading.first`),
  }
}

/**
 * Splits what a statement of {@link pageQueries} gave. Throws the database's refusal (503) when a part is missing that
 * the others promise.
 */
export function readPage(
  [row]: readonly (readonly Cell[])[],
  log: RequestLog | null,
): {
  header: readonly Cell[] | null
  page: Page
} {
  const header = readHeader(row, log)
  if (header === null) return { header, page: { lines: '', rows: 0, next: null } }
  const [, lines = null, ...last] = row ?? []
  const found = Number(header[5] ?? Number.NaN)
  const size = Number(header[6] ?? Number.NaN)
  const hasMore = found > size
  const key = last.filter((cell) => cell !== null)
  const end = lines?.lastIndexOf(BETWEEN_LINES) ?? -1
  const whole =
    found === 0 ? lines === null : lines !== null && (!hasMore || (end > 0 && key.length === last.length))
  if (Number.isNaN(found + size) || !whole) throw unavailable(new TypeError('The page is not whole'), log)
  if (!hasMore) return { header, page: { lines: lines ?? '', rows: found, next: null } }
  return { header, page: { lines: lines?.slice(0, end) ?? '', rows: size, next: key } }
}

// Bounds and order are of the whole key, the brand included: this is what lets Postgres read just these rows, in index
// order, and string their lines together as they come.
function statement({ table, key }: PagedRows, from: SQL, size: number): SQL {
  const columns = ['brand_id', ...key].map((name) => sql`${columnOf(table, name)}`)
  const last = key.map((name, index) =>
    sql.raw(`(array_agg(page."${name}"))[${size}]::text as last_${index}`),
  )
  return sql`
    with access as materialized (${activeKey}),
    reading as materialized (
      select
        access.key_id, access.organization_id, access.plan, brand.id as brand_id,
        (windows.by_plan -> access.plan ->> 'first')::date as first,
        (windows.by_plan -> access.plan ->> 'last')::date as last
      from access
      cross join (select ${sql.placeholder('windows')}::jsonb as by_plan) as windows
      left join export_source.brands as brand on brand.id = ${sql.placeholder('brand_id')}::uuid and ${canRead}
    )
    select
      json_build_array(key_id, organization_id, plan, brand_id,
        daily.watermark(${getTableName(table)}, brand_id, first, least(last, ${sql.placeholder('today')}::date)),
        page.rows::text, ${sql.raw(`'${size}'`)})::text,
      page.lines, ${list(key.map((_, index) => sql.raw(`page.last_${index}`)))}
    from reading cross join lateral (
      select count(*) as rows, string_agg(page.line, ${BETWEEN_LINES}) as lines, ${list(last)}
      from (
        select line, ${list(columns)}
        from ${table}
        where ${from} and (brand_id, date) <= (reading.brand_id, reading.last)
        order by ${list(columns)}
        limit ${sql.raw(String(size + 1))}
      ) as page
    ) as page`
}

const list = (parts: SQL[]): SQL => sql.join(parts, sql`, `)

function columnOf(table: PgTable, name: string): PgColumn {
  const column = getTableColumns(table)[name]
  if (column === undefined) throw new Error(`No column ${name} in ${getTableName(table)}`)
  return column
}
