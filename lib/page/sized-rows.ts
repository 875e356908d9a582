import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { databaseError, type Row } from '../db.ts'
import type { RequestLog } from '../request-log.ts'
import {
  aggregateColumns,
  columnNames,
  columnReader,
  firstCells,
  mostBytes,
  ROW_BYTES,
  type RowSchema,
} from '../row.ts'
import type { RowSet } from '../write-rows.ts'
import { required, toCount, toFlag } from './cells.ts'

/** The most rows that a statement returns, and the most bytes that these have as JSON. */
export type Size = { readonly rows: number; readonly bytes: number }

/** The schema of the rows that are sent, and the columns that order and identify them. */
export type KeyedRow = { readonly row: RowSchema; readonly key: readonly string[] }

/** The rows that a statement returns. */
export type SizedRowSet = RowSet & {
  /** Key of the last row when others follow. */
  readonly next: readonly string[] | null
  /** How many rows there are, where a file's first statement finds more than it returns. */
  readonly total: number | null
}

/** Column of a result that holds a key column of the last row. */
export const lastOf = (name: string): string => `last_${name}`

/** SQL of a list of expressions. */
export const list = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `)

/** SQL of the key of the last row before, from the placeholders `after_0` …. */
export const keyAfter = (columns: readonly PgColumn[]): SQL =>
  list(
    columns.map(
      (column, index) => sql`${sql.placeholder(`after_${index}`)}::${sql.raw(column.getSQLType())}`,
    ),
  )

/** The values of the placeholders of {@link keyAfter}. */
export const valuesOfKey = (after: readonly string[]): Record<string, string> =>
  Object.fromEntries(after.map((value, index) => [`after_${index}`, value]))

/** Names of the columns of {@link sizedRows}. */
export const sizedColumns = ({ row, key, total }: Pick<SizedRows, 'row' | 'key' | 'total'>): string[] => [
  'found',
  'has_more',
  ...columnNames(row),
  ...key.map(lastOf),
  ...(total === undefined ? [] : ['total']),
]

type SizedRows = KeyedRow & {
  /** SQL that selects the rows in order. */
  readonly rows: SQL
  readonly size: Size
  /** SQL of the number of rows. */
  readonly total?: SQL | undefined
}

/**
 * SQL that returns as many rows as a size allows: `columns` to select, and the lateral `joins` that these are of. It
 * reads one row more than it returns, and counts bytes only when the rows could be too large.
 */
export function sizedRows({ row, key, rows: ordered, size, total }: SizedRows) {
  const limit = sql.raw(String(size.rows))
  const bytes = sql.raw(String(size.bytes))
  const rows = sql`${ordered}
        limit ${limit} + 1`
  const keys = key.map(
    (name) => sql`array_agg(page.${sql.identifier(name)}) as ${sql.identifier(lastOf(name))}`,
  )
  const last = key.map((name) => {
    const column = sql.identifier(lastOf(name))
    return sql`page.${column}[least(sent.found, ${limit})]::text as ${column}`
  })
  const hasMore = sql`least(sent.found, ${limit}) < page.found`
  const totals = total === undefined ? [] : [sql`case when ${hasMore} then ${total} end::text as total`]
  const columns = list([
    sql`sent.found::text`,
    sql`(${hasMore})::text as has_more`,
    ...firstCells(row),
    ...last,
    ...totals,
  ])
  const joins = sql`
    cross join lateral (
      select ${list([sql`count(*) as found`, ...aggregateColumns(row, key), ...keys])}
      from (${rows}
      ) as page
    ) as page
    cross join lateral (
      select case when ${mostBytes(row)} <= ${bytes} then page.found else coalesce((
        select greatest(number - 1, 1)
        from (
          select row_number() over so_far as number, sum(${ROW_BYTES}) over so_far as bytes
          from (${rows}
          ) as page
          window so_far as (rows unbounded preceding)
        ) as page
        where bytes > ${bytes}
        limit 1
      ), page.found) end as found
      offset 0
    ) as sent`
  return { columns, joins }
}

/** Returns a function that reads the columns of {@link sizedRows}. It throws 503 for an incomplete result. */
export function sizedRowsReader({ row, key }: KeyedRow) {
  const readColumns = columnReader(row)
  return (result: Row, rows: number, log: RequestLog): SizedRowSet => {
    try {
      const { found, has_more, total } = result
      const count = toCount(found)
      return {
        columns: readColumns(result, count),
        rows: Math.min(count, rows),
        next: toFlag(has_more) ? key.map((name) => required(result[lastOf(name)])) : null,
        total: total == null ? null : toCount(total),
      }
    } catch (error) {
      throw databaseError(error, log)
    }
  }
}
