import { type SQL, sql } from 'drizzle-orm'
import { accessColumns } from '../access/authorize.ts'
import { activeKey, canReadEach } from '../access/scope.ts'
import { fieldNames } from '../row.ts'
import { dayOfWindow, windows } from '../window-by-plan.ts'
import { asOfEach, instant } from './as-of.ts'
import { AFTER_TIMES, type PagedRows, type Part } from './keyset.ts'
import { list, sizedRows } from './sized-rows.ts'

// No index has the rows of a key's brands in the order of their changes, so a statement merges the range of each brand.
// Reading a page of each would cost as many pages as there are brands. Instead, rounds read few rows of each brand, then
// more: the last row of a page that has only these bounds what the next round reads.

/** The most rows of a brand that each round reads. Together, they read at most some 20 times the rows of the page. */
const ROUNDS = [16, 256]

/** A text that sorts after every endpoint. */
const AFTER_ENDPOINTS = sql.raw(`'~'`)

/** The order of a brand's changes, which is that of an index. */
const ORDER_OF_BRAND = sql`brand_id, changed_at, endpoint, date`

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

const boundOf = (round: number): SQL => sql`${sql.identifier(`bound_${round}`)}`

/** SQL of a text that sorts after the times through the bound that a round found; after all times for round 0. */
const end = (round: number, ofBound: SQL): SQL =>
  round === 0 ? AFTER_TIMES : sql`coalesce((select ${ofBound} from ${boundOf(round)}), ${AFTER_TIMES})`

/** SQL of the condition on the last row of `brand`: through the bound that a round found. */
function through(round: number): SQL {
  const ofBrand = sql`case when brand_id < brand.brand_id then changed_at else changed_at || ${AFTER_TIMES} end`
  return sql`(brand_id, changed_at) < (brand.brand_id, ${end(round, ofBrand)})
          and date between brand.first and brand.last`
}

/** SQL of the first rows of each brand of a relation, as `page`. */
const rowsOfEach = (brands: SQL, rows: PagedRows, { from, columns, round, limit }: RowsOfEach): SQL => sql`
      from ${brands} as brand
      cross join lateral (
        select ${columns} from ${rows.table}
        where ${from} and ${through(round)}
        order by ${ORDER_OF_BRAND}
        limit ${sql.raw(String(limit))}
      ) as page
      ${round === 0 ? sql`` : sql`where brand.changed_at < ${end(round, sql`changed_at || ${AFTER_TIMES}`)}`}`

type RowsOfEach = {
  readonly from: SQL
  readonly columns: SQL
  /** The round whose bound holds; 0 for none. */
  readonly round: number
  readonly limit: number
}

/** SQL of the number of rows of a window, of all brands. */
export const totalOfAll = ({ table }: PagedRows, from: SQL): SQL => sql`(
        select count(*) from changed as brand
        cross join lateral (select from ${table} where ${from} and ${through(0)}) as changes
      )`

/**
 * SQL of a statement as `pageStatement` for every brand that the key reads. A page reads in proportion to its rows and
 * to the brands, and other customers' rows never.
 */
export function allBrandsStatement(rows: PagedRows, { from, size, total }: Part): SQL {
  const limit = size.rows + 1
  const fields = list(fieldNames(rows.row).map((name) => sql`${sql.identifier(name)}`))
  const bounds = ROUNDS.map(
    (most, index) => sql`
    ${boundOf(index + 1)} as materialized (
      select page.changed_at, page.brand_id
      ${rowsOfEach(sql`changed`, rows, { from, columns: sql`changed_at, brand_id`, round: index, limit: most })}
      order by page.changed_at, page.brand_id
      limit 1 offset ${sql.raw(String(size.rows))}
    )`,
  )
  const ordered = sql`
        select page.*
        ${rowsOfEach(sql`changed`, rows, { from, columns: fields, round: ROUNDS.length, limit })}
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
      select brand.*, page.changed_at
      ${rowsOfEach(sql`readable`, rows, { from, columns: sql`changed_at`, round: 0, limit: 1 })}
    ),
    ${list(bounds)}
    select
      ${accessColumns},
      ${instant(asOfEach(sql`readable`))} as as_of,
      ${columns}
    from reading ${joins}`
}
