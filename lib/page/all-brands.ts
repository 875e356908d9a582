import { type SQL, sql } from 'drizzle-orm'
import { accessColumns, activeKey, brandsDigest, canReadEach } from '../access/access.ts'
import { asOfEach, instant } from '../refresh/as-of.ts'
import { fieldNames, fieldsOf } from '../rows/schema.ts'
import {
  AFTER_TIMES,
  type PagedRows,
  type PageStatements,
  type Part,
  pageReader,
  prepareParts,
} from '../statement/page-statement.ts'
import { dayOfWindow, windows } from '../statement/window.ts'
import { names, sizedRows } from '../statement/wire.ts'
import type { Source } from './paged.ts'

// No index has the rows of a key's brands in the order of their changes: docs/architecture.md, Changes of all brands.

/** A text that sorts after every endpoint. */
const AFTER_ENDPOINTS = sql.raw(`'~'`)

/** The columns that order and identify the changes of several brands. */
const CHANGES_KEY = ['changed_at', 'brand_id', 'endpoint', 'date']

/** The same, in the order of an index of a brand's rows. */
const ORDER_OF_BRAND = sql`brand_id, changed_at, endpoint, date`

/** SQL of the condition on the last row of `brand`. */
const UNTIL_LAST = sql`(brand_id, changed_at) < (brand.brand_id, ${sql.raw(`'${AFTER_TIMES}'`)}) and date between brand.first and brand.last`

/** SQL of the condition on the first row of `brand`: later than `since`. */
const AFTER_SINCE: SQL = sql`(brand_id, changed_at) > (brand.brand_id, ${sql.placeholder('since')})`

/** SQL of the condition on the first row of `brand`: after the last row before, whose key is in `after_0` …. */
const AFTER_LAST: SQL = sql`(${ORDER_OF_BRAND}) > (
          brand.brand_id,
          ${sql.placeholder('after_0')},
          case
            when brand.brand_id < ${sql.placeholder('after_1')}::uuid then ${AFTER_ENDPOINTS}
            when brand.brand_id > ${sql.placeholder('after_1')}::uuid then ''
            else ${sql.placeholder('after_2')}
          end,
          ${sql.placeholder('after_3')}::date)`

/** SQL of the number of rows of a window, of all brands. */
const totalOfAll = ({ table }: PagedRows, from: SQL): SQL => sql`(
        select count(*) from changed as brand
        cross join lateral (select from ${table} where ${from} and ${UNTIL_LAST}) as changes
      )`

type FirstRows = { readonly from: SQL; readonly columns: SQL; readonly limit: SQL }

/** SQL of the first rows of each brand of a relation, as `page`. */
const firstRowsOf = (brands: string, { table }: PagedRows, { from, columns, limit }: FirstRows): SQL => sql`
      from ${sql.identifier(brands)} as brand
      cross join lateral (
        select ${columns} from ${table}
        where ${from} and ${UNTIL_LAST}
        order by ${ORDER_OF_BRAND}
        limit ${limit}
      ) as page`

/**
 * SQL of a statement as `pageStatement` for every brand that the key reads. It reads the first rows of each brand
 * (`first_rows`): more of those that changed first, and one of the first brand that cannot be on the page. Rows that were not
 * read come after the last one that was read of their brand. The first of these (`bound`) therefore ends the page.
 */
function allBrandsStatement(rows: PagedRows, { from, size, total }: Part): SQL {
  const fields = names(fieldNames(rows.row))
  const order = names(CHANGES_KEY)
  const most = sql.raw(String(size.rows))
  const ordered = sql`
        select * from first_rows
        where (${order}) <= (select ${order} from bound) or not exists (select from bound)
        order by ${order}`
  const unsent = sql`(select count(*) from bound)`
  const { columns, joins } = sizedRows({
    row: rows.row,
    key: CHANGES_KEY,
    rows: ordered,
    size,
    total,
    unsent,
  })
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
      select brand.*, row_number() over (order by page.changed_at, brand.brand_id) as place
      ${firstRowsOf('readable', rows, { from, columns: sql`changed_at`, limit: sql`1` })}
    ),
    candidate as materialized (
      select *, case when place > ${most} then 1 else ${most} / place + 3 end as rows_read
      from changed where place <= ${most} + 1
    ),
    first_rows as materialized (
      select page.*, brand.rows_read
      ${firstRowsOf('candidate', rows, { from, columns: fields, limit: sql`brand.rows_read` })}
    ),
    bound as materialized (
      select ${order}
      from (select *, row_number() over (partition by brand_id order by ${ORDER_OF_BRAND}) as number from first_rows) as numbered
      where number = rows_read
      order by ${order} limit 1
    )
    select
      ${accessColumns},
      ${instant(asOfEach(sql`readable`))} as as_of,
      (select ${brandsDigest(sql`brand_id`)} from readable) as brands_digest,
      ${columns}
    from reading ${joins}`
}

/** Builds the statements of the changes of every brand that the key reads, as `pageStatements` does for one. */
export const allBrandsStatements = (rows: PagedRows): PageStatements =>
  prepareParts(
    { first: AFTER_SINCE, next: AFTER_LAST, total: totalOfAll(rows, AFTER_SINCE) },
    (part) => allBrandsStatement(rows, part),
    { ...rows, key: CHANGES_KEY, columns: ['as_of', 'brands_digest'] },
  )

/** The source of the changes of every brand that the key reads. */
export const changesOfAllBrands = (rows: PagedRows): Source => ({
  statements: allBrandsStatements(rows),
  read: pageReader({ fields: fieldsOf(rows.row), key: CHANGES_KEY }, 'all'),
})
