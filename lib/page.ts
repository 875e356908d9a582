import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { ACCESS_COLUMNS, authorize } from './access.ts'
import { databaseError, type Row, required, toCount, toFlag } from './db.ts'
import type { Plan } from './plans.ts'
import { type PreparedStatement, prepareStatement } from './prepared-statement.ts'
import type { RequestLog } from './request-log.ts'
import {
  aggregateColumns,
  type Column,
  columnNames,
  columnReader,
  fieldNames,
  firstCells,
  mostBytes,
  ROW_BYTES,
  type RowSchema,
} from './row.ts'
import { activeKey, canRead } from './scope.ts'
import { dayOfWindow, windows } from './window-by-plan.ts'

/** Rows of a full page. */
export const PAGE_SIZE = 1000

/**
 * Most bytes of a page's rows as JSON, unless it has one row. Keeps the body below 4 MiB and the Worker's heap below
 * 48 MiB (`npm run bench -- memory`).
 */
export const PAGE_BYTES = 4_000_000

const SIZE = sql.raw(String(PAGE_SIZE))
const BYTES = sql.raw(String(PAGE_BYTES))

/** A text that sorts after every time. */
const AFTER_TIMES = sql.raw(`'A'`)

/** The rows of an endpoint. */
export type PagedRows = {
  readonly table: PgTable
  /** The schema of the rows that are sent. */
  readonly row: RowSchema
  /** The columns that order and identify a brand's rows. The first one is `since`, or else the date. */
  readonly key: readonly string[]
  /** The column that the parameter `since` bounds. */
  readonly since?: string | undefined
}

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
 * Builds the statements of an endpoint's first and later pages. Each checks access, brand and window and reads the page
 * in one round trip; it returns no row without an active key, else one row. Placeholders: those of `activeKey`,
 * `brand_id`, `window_by_plan`, `today`, `since` where there is one, and `after_0` … with the key of the previous page's
 * last row.
 */
export function pageStatements(rows: PagedRows): { first: PreparedStatement; next: PreparedStatement } {
  const { table, row, since } = rows
  const after = list(
    rows.key.map(
      (name, index) =>
        sql`${sql.placeholder(`after_${index}`)}::${sql.raw(columnOf(table, name).getSQLType())}`,
    ),
  )
  const key = list(rows.key.map((name) => sql`${sql.identifier(name)}`))
  const columns = [
    ...ACCESS_COLUMNS,
    'brand_id',
    'watermark',
    'found',
    'has_more',
    ...columnNames(row),
    ...rows.key.map(lastOf),
  ]
  const prepared = (from: SQL) => prepareStatement(statement(rows, from), columns)
  const start =
    since === undefined
      ? sql`(brand_id, date) >= (reading.brand_id, reading.first)`
      : sql`(brand_id, ${sql.identifier(since)}) > (reading.brand_id, ${sql.placeholder('since')}) and date >= reading.first`
  return {
    first: prepared(start),
    next: prepared(sql`(brand_id, ${key}) > (reading.brand_id, ${after}) and date >= reading.first`),
  }
}

/** Returns a function that reads the result of {@link pageStatements}. It throws 401 and 403 as {@link authorize} does, and 503 for an incomplete page. */
export function pageReader({ row: schema, key }: Pick<PagedRows, 'row' | 'key'>) {
  const readColumns = columnReader(schema)
  return (result: Row | null, log: RequestLog): Page => {
    const plan = authorize(result, log)
    const { brand_id, watermark, found, has_more } = result ?? {}
    try {
      const count = toCount(found)
      const columns = readColumns(result ?? {}, count)
      const next = toFlag(has_more) ? key.map((name) => required(result?.[lastOf(name)])) : null
      return {
        plan,
        brandId: brand_id ?? null,
        watermark: watermark ?? null,
        columns,
        rows: Math.min(count, PAGE_SIZE),
        next,
      }
    } catch (error) {
      throw databaseError(error, log)
    }
  }
}

/** Column of a result that holds a key column of the page's last row. */
const lastOf = (name: string): string => `last_${name}`

// Bounds and order are of the whole key, the brand included: so Postgres reads just these rows, in index order. It
// reads one row more than a page holds, and counts bytes only when the rows could be too large.
function statement({ table, row, key, since }: PagedRows, from: SQL): SQL {
  const order = ['brand_id', ...key].map((name) => sql`${columnOf(table, name)}`)
  const selected = new Set([...fieldNames(row), ...key])
  const through =
    since === undefined
      ? sql`(brand_id, date) <= (reading.brand_id, reading.last)`
      : sql`(brand_id, ${sql.identifier(since)}) < (reading.brand_id, ${AFTER_TIMES}) and date <= reading.last`
  // The changes are of all metrics.
  const metric = since === undefined ? sql.raw(`'${getTableName(table)}', `) : sql``
  const rows = sql`
        select ${list([...selected].map((name) => sql`${columnOf(table, name)}`))}
        from ${table}
        where ${from} and ${through}
        order by ${list(order)}
        limit ${SIZE} + 1`
  const keys = key.map(
    (name) => sql`array_agg(page.${sql.identifier(name)}) as ${sql.identifier(lastOf(name))}`,
  )
  const last = key.map((name) => {
    const column = sql.identifier(lastOf(name))
    return sql`page.${column}[least(sent.found, ${SIZE})]::text as ${column}`
  })
  return sql`
    with access as (${activeKey}),
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
      daily.watermark(${metric}brand_id, first, least(last, ${sql.placeholder('today')}::date))::text as watermark,
      sent.found::text, (least(sent.found, ${SIZE}) < page.found)::text as has_more,
      ${list([...firstCells(row), ...last])}
    from reading
    cross join lateral (
      select ${list([sql`count(*) as found`, ...aggregateColumns(row, key), ...keys])}
      from (${rows}
      ) as page
    ) as page
    cross join lateral (
      select case when ${mostBytes(row)} <= ${BYTES} then page.found else coalesce((
        select greatest(number - 1, 1)
        from (
          select row_number() over so_far as number, sum(${ROW_BYTES}) over so_far as bytes
          from (${rows}
          ) as page
          window so_far as (rows unbounded preceding)
        ) as page
        where bytes > ${BYTES}
        limit 1
      ), page.found) end as found
      offset 0
    ) as sent`
}

const list = (parts: SQL[]): SQL => sql.join(parts, sql`, `)

function columnOf(table: PgTable, name: string): PgColumn {
  const column = getTableColumns(table)[name]
  if (column === undefined) throw new Error(`No column ${name} in ${getTableName(table)}`)
  return column
}
