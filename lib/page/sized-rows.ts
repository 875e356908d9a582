import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { aggregateColumns, columnNames, firstCells, mostBytes, ROW_BYTES } from '../row-columns.ts'
import type { RowSchema } from '../row-schema.ts'
import { lastOf } from './read-sized-rows.ts'
import type { Size } from './size.ts'

/** The schema of the rows that are sent, and the columns that order and identify them. */
export type KeyedRow = { readonly row: RowSchema; readonly key: readonly string[] }

/** SQL of a list of expressions. */
export const list = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `)

/** SQL of the key of the last row before, from the placeholders `after_0` …. */
export const keyAfter = (columns: readonly PgColumn[]): SQL =>
  list(
    columns.map(
      (column, index) => sql`${sql.placeholder(`after_${index}`)}::${sql.raw(column.getSQLType())}`,
    ),
  )

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
  /** SQL of how many of the last rows only show that others follow. */
  readonly unsent?: SQL | undefined
}

/**
 * SQL that returns as many rows as a size allows: `columns` to select, and the lateral `joins` that these are of. It
 * reads one row more than it returns, and counts bytes only when the rows could be too large.
 */
export function sizedRows({ row, key, rows: ordered, size, total, unsent = sql`0` }: SizedRows) {
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
      select least(page.found - ${unsent}, case when ${mostBytes(row)} <= ${bytes} then page.found else coalesce((
        select greatest(number - 1, 1)
        from (
          select row_number() over so_far as number, sum(${ROW_BYTES}) over so_far as bytes
          from (${rows}
          ) as page
          window so_far as (rows unbounded preceding)
        ) as page
        where bytes > ${bytes}
        limit 1
      ), page.found) end) as found
      offset 0
    ) as sent`
  return { columns, joins }
}
