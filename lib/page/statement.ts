import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { dailyChanges } from '../../drizzle/tables/refresh.ts'
import { ACCESS_COLUMNS, accessColumns, activeKey, canRead } from '../access/scope.ts'
import { type PreparedStatement, prepareStatement } from '../database/statement.ts'
import { asOf, instant } from '../refresh/as-of.ts'
import { aggregateColumns, columnNames, firstCells, mostBytes, ROW_BYTES } from '../rows/columns.ts'
import { lastOf } from '../rows/read.ts'
import { fieldNames, type RowSchema } from '../rows/schema.ts'
import { FILE_PART, PAGE, type Size } from '../rows/size.ts'
import { dayOfWindow, windows } from './window-by-plan.ts'

// A page is one statement, which checks access, brand and window and reads rows: all of one snapshot, in one round trip.
// `npm run sql -- visibility` prints it. docs/architecture.md explains its parts.

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

/** The condition on a statement's first row, its size, and an expression of how many rows the window has. */
export type Part = { readonly from: SQL; readonly size: Size; readonly total?: SQL }

/**
 * SQL of a statement that reads rows of a brand. It returns no row without an active key, else one. Bounds and order are
 * of the whole key, the brand included: so Postgres reads just these rows, in index order.
 */
function pageStatement({ table, row, key, since }: PagedRows, { from, size, total }: Part): SQL {
  const rows = sql`
        select ${names(new Set([...fieldNames(row), ...key]))}
        from ${table}
        where ${from} and ${untilLast(since)}
        order by brand_id, ${names(key)}`
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

type SizedRows = KeyedRow & {
  /** SQL that selects the rows in order. */
  readonly rows: SQL
  readonly size: Size
  /** SQL of the number of rows. */
  readonly total?: SQL | undefined
  /** SQL of how many of the last rows only show that others follow. */
  readonly unsent?: SQL | undefined
}

/**
 * SQL that returns as many rows as a size allows: `columns` to select, and the lateral `joins` that these are of. It
 * reads one row more than a page has, which shows that others follow, and which `lib/rows/read.ts` drops when it comes
 * along. It counts bytes only when the rows could be too large.
 */
export function sizedRows({ row, key, rows: ordered, size, total, unsent }: SizedRows) {
  const limit = sql.raw(String(size.rows))
  const bytes = sql.raw(String(size.bytes))
  const rows = sql`${ordered}
        limit ${limit} + 1`
  const keys = key.map(
    (name) => sql`array_agg(page.${sql.identifier(name)}) as ${sql.identifier(lastOf(name))}`,
  )
  const last = key.map((name) => {
    const column = sql.identifier(lastOf(name))
    return sql`page.${column}[least(sent.fits, ${limit})]::text as ${column}`
  })
  const hasMore = sql`least(sent.fits, ${limit}) < page.fetched`
  const totals = total === undefined ? [] : [sql`case when ${hasMore} then ${total} end::text as total`]
  const columns = lines([
    sql`sent.fits::text as fits`,
    sql`(${hasMore})::text as has_more`,
    ...firstCells(row),
    ...last,
    ...totals,
  ])
  const joins = sql`
    cross join lateral (
      select
      ${lines([sql`count(*) as fetched`, ...aggregateColumns(row, key), ...keys])}
      from (${rows}
      ) as page
    ) as page
    cross join lateral (
      select least(page.fetched${unsent && sql` - ${unsent}`}, case when ${mostBytes(row)} <= ${bytes} then page.fetched else coalesce((
        select greatest(number - 1, 1)
        from (
          select row_number() over so_far as number, sum(${ROW_BYTES}) over so_far as bytes
          from (${rows}
          ) as page
          window so_far as (rows unbounded preceding)
        ) as page
        where bytes > ${bytes}
        limit 1
      ), page.fetched) end) as fits
      offset 0
    ) as sent`
  return { columns, joins }
}

/** The schema of the rows that are sent, and the columns that order and identify them. */
export type KeyedRow = { readonly row: RowSchema; readonly key: readonly string[] }

/** Names of the columns of {@link sizedRows}. */
export const sizedColumns = ({ row, key, total }: Pick<SizedRows, 'row' | 'key' | 'total'>): string[] => [
  'fits',
  'has_more',
  ...columnNames(row),
  ...key.map(lastOf),
  ...(total === undefined ? [] : ['total']),
]

/** A text that sorts after every time. */
export const AFTER_TIMES = sql.raw(`'A'`)

/** The condition on the last row of the window. */
const untilLast = (since: string | undefined): SQL =>
  since === undefined
    ? sql`(brand_id, date) <= (reading.brand_id, reading.last)`
    : sql`(brand_id, ${sql.identifier(since)}) < (reading.brand_id, ${AFTER_TIMES}) and date <= reading.last`

/** SQL of the number of rows of a window. That of a metric's rows is listed by day, so that no row is counted. */
const totalOf = ({ path, table, since }: PagedRows, from: SQL): SQL =>
  since === undefined
    ? sql`(
        select coalesce(sum(rows), 0) from ${dailyChanges}
        where brand_id = reading.brand_id and endpoint = ${sql.raw(`'${path.slice(1)}'`)}
          and date between reading.first and reading.last
      )`
    : sql`(select count(*) from ${table} where ${from} and ${untilLast(since)})`

/** A statement that reads rows, and the most that a page or part of it has. */
export type PageStatement = PreparedStatement & { readonly limit: number }

/** The statements of an endpoint. */
export type PageStatements = {
  readonly first: PageStatement
  readonly next: PageStatement
  /** As `first`, with the column `total`: the rows of the window, when there are more than these. */
  readonly firstOfFile: PageStatement
  /** As `next`, with up to {@link FILE_PART}. */
  readonly nextOfFile: PageStatement
}

/**
 * Builds the statements of an endpoint's rows of a brand. Placeholders: those of `activeKey`, `brand_id`,
 * `window_by_plan`, `since` where there is one, and `after_0` … with the key of the last row before.
 */
export function pageStatements(rows: PagedRows): PageStatements {
  const { table, since } = rows
  const after = keyAfter(rows.key.map((name) => columnOf(table, name)))
  const key = names(rows.key)
  const first =
    since === undefined
      ? sql`(brand_id, date) >= (reading.brand_id, reading.first)`
      : sql`(brand_id, ${sql.identifier(since)}) > (reading.brand_id, ${sql.placeholder('since')}) and date >= reading.first`
  const next = sql`(brand_id, ${key}) > (reading.brand_id, ${after}) and date >= reading.first`
  const total = totalOf(rows, first)
  return prepareParts({ first, next, total }, (part) => pageStatement(rows, part), {
    ...rows,
    columns: ['brand_id', 'as_of'],
  })
}

type Parts = { readonly first: SQL; readonly next: SQL; readonly total: SQL }

/** Builds the statements of an endpoint. `columns` are those between the columns of the access and those of the rows. */
export function prepareParts(
  { first, next, total }: Parts,
  statement: (part: Part) => SQL,
  { columns, ...rows }: KeyedRow & { readonly columns: readonly string[] },
): PageStatements {
  const prepare = (part: Part): PageStatement => {
    const all = [...ACCESS_COLUMNS, ...columns, ...sizedColumns({ ...rows, total: part.total })]
    return { ...prepareStatement(statement(part), all), limit: part.size.rows }
  }
  return {
    first: prepare({ from: first, size: PAGE }),
    next: prepare({ from: next, size: PAGE }),
    firstOfFile: prepare({ from: first, size: PAGE, total }),
    nextOfFile: prepare({ from: next, size: FILE_PART }),
  }
}

/** SQL of a list of expressions. */
export const list = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `)

/** SQL of the same with an expression in each line. */
export const lines = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`,\n      `)

/** SQL of a list of columns. */
export const names = (columns: Iterable<string>): SQL =>
  list([...columns].map((name) => sql`${sql.identifier(name)}`))

/** SQL of the key of the last row before, from the placeholders `after_0` …. */
export const keyAfter = (columns: readonly PgColumn[]): SQL =>
  list(
    columns.map(
      (column, index) => sql`${sql.placeholder(`after_${index}`)}::${sql.raw(column.getSQLType())}`,
    ),
  )

/** Returns a column of a table by its name. */
export function columnOf(table: PgTable, name: string): PgColumn {
  const column = getTableColumns(table)[name]
  if (column === undefined) throw new Error(`No column ${name} in ${getTableName(table)}`)
  return column
}
