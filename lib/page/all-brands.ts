import { type SQL, sql } from 'drizzle-orm'
import { accessColumns } from '../access/authorize.ts'
import { activeKey, canReadEach } from '../access/scope.ts'
import { fieldNames } from '../row.ts'
import { dayOfWindow, windows } from '../window-by-plan.ts'
import { asOfEach, instant } from './as-of.ts'
import { brandsDigest } from './brands-digest.ts'
import { AFTER_TIMES, type PagedRows, type Part } from './keyset.ts'
import { list, sizedRows } from './sized-rows.ts'

// No index has the rows of a key's brands in the order of their changes, so a statement merges the range of each brand.
// Reading a page of each would cost as many pages as there are brands. The first row of each orders the brands: no brand
// after the place of a page's last row is in the page. Rounds then read few rows of each brand: the last row of any page's
// worth of rows is a bound, and later rounds read nothing after it. The first rounds find it where the changes of one brand
// follow those of another, as after a relist. They read the first brands only, and nothing after the first row of the next
// brand. The last rounds find it where changes mix.

/** How many brands, the first in the order of their first rows, each of the first rounds reads. */
const FIRST_BRANDS = [3, 12, 50, 200]

/** The rounds that read all brands. The second one counts on those that had more rows than the first one read. */
const ROUNDS = FIRST_BRANDS.length + 2

/** Rows that a round reads at most, as a multiple of the page's. */
const ROUND_SIZE = 1.2

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

/** SQL of the condition on the last row of `brand`: through the row of a relation, which need not have one. */
function through(bound?: SQL): SQL {
  const end =
    bound &&
    sql`(
            select case when brand_id < brand.brand_id then changed_at else changed_at || ${AFTER_TIMES} end
            from ${bound}
          )`
  return sql`(brand_id, changed_at) < (brand.brand_id, ${end ? sql`coalesce(${end}, ${AFTER_TIMES})` : AFTER_TIMES})
          and date between brand.first and brand.last`
}

type RowsOfEach = {
  readonly from: SQL
  readonly columns: SQL
  /** A relation of the last row to read. */
  readonly bound?: SQL
  readonly limit: SQL
}

/** SQL of the first rows of each brand of a relation, as `page`. */
const rowsOfEach = (
  brands: SQL,
  { table }: PagedRows,
  { from, columns, bound, limit }: RowsOfEach,
): SQL => sql`
      from ${brands} as brand
      cross join lateral (
        select ${columns} from ${table}
        where ${from} and ${through(bound)}
        order by ${ORDER_OF_BRAND}
        limit ${limit}
      ) as page`

/** SQL of the brands that have a row through the one of a relation. */
const changedThrough = (bound: SQL): SQL =>
  sql`changed where changed_at <= coalesce((select changed_at from ${bound}), ${AFTER_TIMES})`

/** SQL of the number of rows of a window, of all brands. */
export const totalOfAll = ({ table }: PagedRows, from: SQL): SQL => sql`(
        select count(*) from changed as brand
        cross join lateral (select from ${table} where ${from} and ${through()}) as changes
      )`

const number = (value: number): SQL => sql.raw(String(value))

/** The columns of a bound, in which it is ordered. */
const BOUND = sql`changed_at, brand_id`

/** SQL of the name of a relation of a round. Round 0 has a bound alone. */
const named = (relation: 'bound' | 'end' | 'limit' | 'rows', round: number): SQL =>
  sql`${sql.identifier(`${relation}_${round}`)}`

/** SQL of the first row of the brand after the first `brands`. */
const firstOf = (brands: number): SQL => sql`select ${BOUND} from changed where place = ${number(brands + 1)}`

type Round = { readonly from: SQL; readonly round: number; readonly size: number }

/** SQL of the relations of a round, which finds a bound or keeps the one that was found before. */
function roundOf(rows: PagedRows, { from, round, size }: Round): SQL {
  const found = named('bound', round - 1)
  const brands = FIRST_BRANDS[round - 1]
  const more = sql`(
        select from ${named('rows', round - 1)} group by brand_id
        having count(*) = (select rows from ${named('limit', round - 1)})
      ) as brand`
  const counted = round === ROUNDS ? more : sql`${changedThrough(found)}`
  const limit =
    brands === undefined
      ? sql`select ceil(${number(size * ROUND_SIZE)}::float8 / greatest(count(*), 1))::int as rows from ${counted}`
      : sql`select ${number(Math.ceil((size * ROUND_SIZE) / brands))} as rows`
  const next = brands === undefined ? sql`` : sql`union all ${firstOf(brands)} order by ${BOUND} limit 1`
  const read = sql`(select * from ${changedThrough(found)}${brands === undefined ? sql`` : sql` and place <= ${number(brands)}`})`
  const reading = {
    from,
    columns: BOUND,
    bound: named('end', round),
    limit: sql`(select rows from ${named('limit', round)})`,
  }
  return sql`
    ${named('end', round)} as materialized (select ${BOUND} from ${found} ${next}),
    ${named('limit', round)} as materialized (${limit}),
    ${named('rows', round)} as materialized (
      select page.changed_at, page.brand_id
      ${rowsOfEach(read, rows, reading)}
    ),
    ${named('bound', round)} as materialized (
      (select ${BOUND} from ${named('rows', round)} order by ${BOUND} limit 1 offset ${number(size)})
      union all select ${BOUND} from ${found} order by ${BOUND} limit 1
    )`
}

/**
 * SQL of a statement as `pageStatement` for every brand that the key reads. A page reads in proportion to its rows and
 * to the brands, and other customers' rows never.
 */
export function allBrandsStatement(rows: PagedRows, { from, size, total }: Part): SQL {
  const fields = list(fieldNames(rows.row).map((name) => sql`${sql.identifier(name)}`))
  const rounds = Array.from({ length: ROUNDS }, (_, index) =>
    roundOf(rows, { from, round: index + 1, size: size.rows }),
  )
  const bound = named('bound', ROUNDS)
  const limit = number(size.rows + 1)
  const ordered = sql`
        select page.*
        ${rowsOfEach(sql`(select * from ${changedThrough(bound)})`, rows, { from, columns: fields, bound, limit })}
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
    ${named('bound', 0)} as materialized (${firstOf(size.rows)}),
    ${list(rounds)}
    select
      ${accessColumns},
      ${instant(asOfEach(sql`readable`))} as as_of,
      (select ${brandsDigest(sql`brand_id`)} from readable) as brands_digest,
      ${columns}
    from reading ${joins}`
}
