import { getTableColumns, getTableName, type Query, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { stale } from '../drizzle/daily/stale.ts'
import { readHeader } from './access.ts'
import { type Cell, prepare } from './db.ts'
import { canRead, liveKey } from './scope.ts'

/** Rows of a full page (specification, section 8). */
export const PAGE_SIZE = 1000

/** A metric's stored rows: the table, the columns that are sent, and the columns that order them, the first being the date. */
export type PagedRows = {
  readonly table: PgTable
  readonly columns: readonly string[]
  readonly key: readonly string[]
}

/** One page: its rows' cells, in the order of the columns, and the key of its last row when another page follows. */
export type Page = { readonly rows: readonly (readonly Cell[])[]; readonly next: readonly string[] | null }

/**
 * The statements of a metric's first page and of its later ones: access, brand, window and page in one.
 * The first row's first cell is a JSON array: key, organization, plan, brand, and the day through which nothing waits
 * to be computed anew. There is no row at all without a live key.
 * Placeholders: those of `liveKey`, `brand_id`, `windows` (JSON: a window for each plan), `today`, and `after_0` ….
 */
export function pageQueries(rows: PagedRows): { first: Query; next: Query } {
  const key = rows.key.map((name) => columnOf(rows.table, name))
  const after = key.map(
    (column, index) => sql`${sql.placeholder(`after_${index}`)}::${sql.raw(column.getSQLType())}`,
  )
  const columns = sql.join(names(rows.key), sql`, `)
  return {
    first: prepare(statement(rows, sql`(brand_id, date) >= (reading.brand_id, reading.first)`)),
    next: prepare(
      statement(
        rows,
        sql`(brand_id, ${columns}) > (reading.brand_id, ${sql.join(after, sql`, `)}) and date >= reading.first`,
      ),
    ),
  }
}

/** Splits what a statement of {@link pageQueries} gave. */
export function readPage(
  cells: readonly (readonly Cell[])[],
  rows: PagedRows,
): { header: readonly Cell[] | null; page: Page } {
  const [head, ...found] = cells
  const header = readHeader(head)
  const page = found.slice(0, PAGE_SIZE)
  const last = found.length > PAGE_SIZE ? page.at(-1) : undefined
  const selected = selection(rows)
  const next = last === undefined ? null : rows.key.map((name) => last[selected.indexOf(name)] ?? '')
  return { header, page: { rows: page, next } }
}

// Bounds and order are of the whole key, the brand included, and the order is the table's columns, not the texts that are
// selected under their names: this is what lets Postgres read just these rows, in index order.
function statement(rows: PagedRows, from: SQL): SQL {
  const selected = selection(rows)
  const metric = getTableName(rows.table)
  const nothing = sql.join(
    selected.slice(1).map(() => sql`null`),
    sql`, `,
  )
  const order = sql.join(
    ['brand_id', ...rows.key].map((name) => sql`${columnOf(rows.table, name)}`),
    sql`, `,
  )
  return sql`
    with access as materialized (${liveKey}),
    reading as materialized (
      select
        access.key_id, access.organization_id, access.plan, brand.id as brand_id,
        (windows.by_plan -> access.plan ->> 'first')::date as first,
        (windows.by_plan -> access.plan ->> 'last')::date as last
      from access
      cross join (select ${sql.placeholder('windows')}::jsonb as by_plan) as windows
      left join brands as brand on brand.id = ${sql.placeholder('brand_id')}::uuid and ${canRead}
    )
    select
      json_build_array(key_id, organization_id, plan, brand_id, case
        when not exists (
          select from ${stale} as wide
          where wide.date is null and wide.metric = ${metric} and (wide.brand_id = reading.brand_id or wide.brand_id is null))
        then least(last, ${sql.placeholder('today')}::date,
          (select min(noted.date) - 1 from ${stale} as noted
           where noted.metric = ${metric} and noted.brand_id = reading.brand_id and noted.date >= reading.first),
          (select min(noted.date) - 1 from ${stale} as noted
           where noted.metric = ${metric} and noted.brand_id is null and noted.date >= reading.first))
      end)::text,
      ${nothing}
    from reading
    union all
    select page.* from reading cross join lateral (
      select ${sql.join(
        selected.map((name) => sql`${sql.identifier(name)}::text`),
        sql`, `,
      )}
      from ${rows.table}
      where ${from} and (brand_id, date) <= (reading.brand_id, reading.last)
      order by ${order}
      limit ${sql.raw(String(PAGE_SIZE + 1))}
    ) as page`
}

/** The columns to select: those that are sent, and the parts of the key that are not. */
const selection = (rows: PagedRows): string[] => [...new Set([...rows.columns, ...rows.key])]

const names = (columns: readonly string[]): SQL[] => columns.map((name) => sql`${sql.identifier(name)}`)

function columnOf(table: PgTable, name: string): PgColumn {
  const column = getTableColumns(table)[name]
  if (column === undefined) throw new Error(`No column ${name} in ${getTableName(table)}`)
  return column
}
