import { type SQL, sql } from 'drizzle-orm'
import { accessColumns, activeKey, canReadEach } from '../access/scope.ts'
import { fieldNames } from '../row-schema.ts'
import { dayOfWindow, windows } from '../window-sql.ts'
import { asOfEach, instant } from './as-of.ts'
import { brandsDigest } from './brands-digest.ts'
import type { PagedRows, Part } from './keyset.ts'
import { BOUND_OF_PAGE, rounds } from './rounds.ts'
import { changedUntil, ORDER_OF_BRAND, rowsOfEach, untilRow } from './rows-of-brands.ts'
import { list, sizedRows } from './sized-rows.ts'

/** A text that sorts after every endpoint. */
const AFTER_ENDPOINTS = sql.raw(`'~'`)

/** The columns that order and identify the changes of several brands. */
export const CHANGES_KEY = ['changed_at', 'brand_id', 'endpoint', 'date']

/** SQL of the condition on the first row of `brand`: later than `since`. */
export const AFTER_SINCE: SQL = sql`(brand_id, changed_at) > (brand.brand_id, ${sql.placeholder('since')})`

/** SQL of the condition on the first row of `brand`: after the last row before, whose key is in `after_0` …. */
export const AFTER_LAST: SQL = sql`(${ORDER_OF_BRAND}) > (
          brand.brand_id,
          ${sql.placeholder('after_0')},
          case
            when brand.brand_id < ${sql.placeholder('after_1')}::uuid then ${AFTER_ENDPOINTS}
            when brand.brand_id > ${sql.placeholder('after_1')}::uuid then ''
            else ${sql.placeholder('after_2')}
          end,
          ${sql.placeholder('after_3')}::date)`

/** SQL of the number of rows of a window, of all brands. */
export const totalOfAll = ({ table }: PagedRows, from: SQL): SQL => sql`(
        select count(*) from changed as brand
        cross join lateral (select from ${table} where ${from} and ${untilRow()}) as changes
      )`

/**
 * SQL of a statement as `pageStatement` for every brand that the key reads. A page reads in proportion to its rows and
 * to the brands, and other customers' rows never.
 */
export function allBrandsStatement(rows: PagedRows, { from, size, total }: Part): SQL {
  const fields = list(fieldNames(rows.row).map((name) => sql`${sql.identifier(name)}`))
  const reading = {
    from,
    columns: fields,
    bound: BOUND_OF_PAGE,
    limit: sql.raw(String(size.rows + 1)),
  }
  const ordered = sql`
        select page.*
        ${rowsOfEach(sql`(select * from ${changedUntil(BOUND_OF_PAGE)})`, rows, reading)}
        order by ${list(CHANGES_KEY.map((name) => sql`page.${sql.identifier(name)}`))}`
  const { columns, joins } = sizedRows({ row: rows.row, key: CHANGES_KEY, rows: ordered, size, total })
  return sql`
    with access as materialized (${activeKey}),
    reading as materialized (
      select
        access.key_id, access.organization_id, access.plan,
        ${dayOfWindow('first')} as first, ${dayOfWindow('last')} as last
      from access
      cross join ${windows}
    ),
    readable as materialized (
      select brand.id as brand_id, reading.first, reading.last
      from access
      cross join reading
      join export_source.brands as brand on ${canReadEach}
    ),
    changed as materialized (
      select brand.*, page.changed_at, row_number() over (order by page.changed_at, brand.brand_id) as place
      ${rowsOfEach(sql`readable`, rows, { from, columns: sql`changed_at`, limit: sql`1` })}
    ),
    ${rounds(rows, { from, size: size.rows })}
    select
      ${accessColumns},
      ${instant(asOfEach(sql`readable`))} as as_of,
      (select ${brandsDigest(sql`brand_id`)} from readable) as brands_digest,
      ${columns}
    from reading ${joins}`
}
