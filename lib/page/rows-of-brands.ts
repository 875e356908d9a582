import { type SQL, sql } from 'drizzle-orm'
import { AFTER_TIMES, type PagedRows } from './keyset.ts'

/** The order of a brand's changes, which is that of an index. */
export const ORDER_OF_BRAND = sql`brand_id, changed_at, endpoint, date`

/** SQL of the condition on the last row of `brand`: through the row of a relation, which need not have one. */
export function untilRow(bound?: SQL): SQL {
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
export const rowsOfEach = (
  brands: SQL,
  { table }: PagedRows,
  { from, columns, bound, limit }: RowsOfEach,
): SQL => sql`
      from ${brands} as brand
      cross join lateral (
        select ${columns} from ${table}
        where ${from} and ${untilRow(bound)}
        order by ${ORDER_OF_BRAND}
        limit ${limit}
      ) as page`

/** SQL of the brands that have a row through the one of a relation. */
export const changedUntil = (bound: SQL): SQL =>
  sql`changed where changed_at <= coalesce((select changed_at from ${bound}), ${AFTER_TIMES})`
