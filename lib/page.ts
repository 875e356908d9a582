import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { ACCESS_COLUMNS, authorize } from './access.ts'
import { databaseError, type Row, required, toCount } from './db.ts'
import type { Plan } from './plans.ts'
import { type PreparedStatement, prepareStatement } from './prepared-statement.ts'
import type { RequestLog } from './request-log.ts'
import {
  aggregateColumns,
  type Column,
  columnNames,
  columnReader,
  fieldNames,
  type RowSchema,
} from './row.ts'
import { activeKey, canRead } from './scope.ts'
import { dayOfWindow, windows } from './window-by-plan.ts'

/** Rows of a full page. */
export const PAGE_SIZE = 1000

/** Rows of a page that replaces one over Neon's limit: of the longest URLs, all of whose bytes are escaped. */
const SHORT_PAGE_SIZE = 100

/** A metric's stored rows, the schema of those that are sent, and the columns that order them; the first is the date. */
export type PagedRows = { readonly table: PgTable; readonly row: RowSchema; readonly key: readonly string[] }

/** What a page's statement found. */
export type Page = {
  readonly plan: Plan
  /** The brand in its canonical form; null when the key does not read it. */
  readonly brandId: string | null
  /** Last day of the window through which all days are up to date; null when there is none. */
  readonly watermark: string | null
  readonly columns: readonly Column[]
  readonly rows: number
  /** Key of the last row when another page follows. */
  readonly next: readonly string[] | null
}

/**
 * Builds the statements of a metric's first and later pages. Each checks access, brand and window and reads the page in
 * one round trip; it returns no row without an active key, else one row. Placeholders: those of `activeKey`,
 * `brand_id`, `window_by_plan`, `today`, and `after_0` … with the key of the previous page's last row.
 */
export function pageStatements(rows: PagedRows): { first: PreparedStatement; next: PreparedStatement } {
  const after = rows.key.map(
    (name, index) =>
      sql`${sql.placeholder(`after_${index}`)}::${sql.raw(columnOf(rows.table, name).getSQLType())}`,
  )
  const key = list(rows.key.map((name) => sql`${sql.identifier(name)}`))
  const columns = [
    ...ACCESS_COLUMNS,
    'brand_id',
    'watermark',
    'page_size',
    'found',
    ...columnNames(rows.row),
    ...rows.key.map(lastOf),
  ]
  const prepared = (from: SQL) =>
    prepareStatement(
      statement(rows, from, PAGE_SIZE),
      columns,
      prepareStatement(statement(rows, from, SHORT_PAGE_SIZE), columns),
    )
  return {
    first: prepared(sql`(brand_id, date) >= (reading.brand_id, reading.first)`),
    next: prepared(sql`(brand_id, ${key}) > (reading.brand_id, ${list(after)}) and date >= reading.first`),
  }
}

/** Returns a function that reads the result of {@link pageStatements}. It throws 401 and 403 as {@link authorize} does, and 503 for an incomplete page. */
export function pageReader({ row: schema, key }: Pick<PagedRows, 'row' | 'key'>) {
  const readColumns = columnReader(schema)
  return (result: Row | null, log: RequestLog): Page => {
    const plan = authorize(result, log)
    const { brand_id, watermark, page_size, found } = result ?? {}
    try {
      const [size, count] = [toCount(page_size), toCount(found)]
      const columns = readColumns(result ?? {}, count)
      const next = count > size ? key.map((name) => required(result?.[lastOf(name)])) : null
      return {
        plan,
        brandId: brand_id ?? null,
        watermark: watermark ?? null,
        columns,
        rows: Math.min(count, size),
        next,
      }
    } catch (error) {
      throw databaseError(error, log)
    }
  }
}

/** Column of a result that holds a key column of the page's last row. */
const lastOf = (name: string): string => `last_${name}`

// Bounds and order are of the whole key, the brand included: so Postgres reads just these rows, in index order.
function statement({ table, row, key }: PagedRows, from: SQL, size: number): SQL {
  const order = ['brand_id', ...key].map((name) => sql`${columnOf(table, name)}`)
  const selected = new Set([...fieldNames(row), ...key])
  const last = key.map(
    (name) =>
      sql`(array_agg(page.${sql.identifier(name)}))[${sql.raw(String(size))}]::text as ${sql.identifier(lastOf(name))}`,
  )
  return sql`
    with access as materialized (${activeKey}),
    reading as materialized (
      select
        access.key_id, access.organization_id, access.plan, brand.id as brand_id,
        ${dayOfWindow('first')} as first, ${dayOfWindow('last')} as last
      from access
      cross join ${windows}
      left join export_source.brands as brand on brand.id = ${sql.placeholder('brand_id')}::uuid and ${canRead}
    )
    select
      key_id::text, organization_id::text, plan, brand_id::text,
      daily.watermark(${sql.raw(`'${getTableName(table)}'`)}, brand_id, first, least(last, ${sql.placeholder('today')}::date))::text as watermark,
      ${sql.raw(`'${size}'`)} as page_size,
      page.*
    from reading cross join lateral (
      select ${list([sql`count(*)::text as found`, ...aggregateColumns(row), ...last])}
      from (
        select ${list([...selected].map((name) => sql`${columnOf(table, name)}`))}
        from ${table}
        where ${from} and (brand_id, date) <= (reading.brand_id, reading.last)
        order by ${list(order)}
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
