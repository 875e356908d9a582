import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { dailyChanges } from '../../drizzle/refresh/changes.ts'
import { accessColumns, activeKey, canRead } from '../access/scope.ts'
import { fieldNames, type RowSchema } from '../row-schema.ts'
import { dayOfWindow, windows } from '../window-sql.ts'
import { asOf, instant } from './as-of.ts'
import type { Size } from './size.ts'
import { list, sizedRows } from './sized-rows.ts'

/** The rows of an endpoint. */
export type PagedRows = {
  /** Path of the endpoint, below the base. */
  readonly path: string
  readonly table: PgTable
  /** The schema of the rows that are sent. */
  readonly row: RowSchema
  /** The columns that order and identify a brand's rows. The first one is `since`, or else the date. */
  readonly key: readonly string[]
  /** The column that the parameter `since` bounds. */
  readonly since?: string | undefined
}

/** A text that sorts after every time. */
export const AFTER_TIMES = sql.raw(`'A'`)

/** The condition on a statement's first row, its size, and an expression of how many rows the window has. */
export type Part = { readonly from: SQL; readonly size: Size; readonly total?: SQL }

/** SQL of the condition on the last row of the window. */
const untilLast = (since: string | undefined): SQL =>
  since === undefined
    ? sql`(brand_id, date) <= (reading.brand_id, reading.last)`
    : sql`(brand_id, ${sql.identifier(since)}) < (reading.brand_id, ${AFTER_TIMES}) and date <= reading.last`

/** SQL of the number of rows of a window. That of a metric's rows is listed by day, so that no row is counted. */
export const totalOf = ({ path, table, since }: PagedRows, from: SQL): SQL =>
  since === undefined
    ? sql`(
        select coalesce(sum(rows), 0) from ${dailyChanges}
        where brand_id = reading.brand_id and endpoint = ${sql.raw(`'${path.slice(1)}'`)}
          and date between reading.first and reading.last
      )`
    : sql`(select count(*) from ${table} where ${from} and ${untilLast(since)})`

/**
 * SQL of a statement that checks access, brand and window and reads rows. Bounds and order are of the whole key, the
 * brand included: so Postgres reads just these rows, in index order.
 */
export function pageStatement({ table, row, key, since }: PagedRows, { from, size, total }: Part): SQL {
  const order = ['brand_id', ...key].map((name) => sql`${columnOf(table, name)}`)
  const selected = new Set([...fieldNames(row), ...key])
  const rows = sql`
        select ${list([...selected].map((name) => sql`${columnOf(table, name)}`))}
        from ${table}
        where ${from} and ${untilLast(since)}
        order by ${list(order)}`
  const { columns, joins } = sizedRows({ row, key, rows, size, total })
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
      ${accessColumns}, brand_id::text,
      ${instant(asOf(sql`reading.brand_id`))} as as_of,
      ${columns}
    from reading ${joins}`
}

export function columnOf(table: PgTable, name: string): PgColumn {
  const column = getTableColumns(table)[name]
  if (column === undefined) throw new Error(`No column ${name} in ${getTableName(table)}`)
  return column
}
