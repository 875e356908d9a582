import { type SQL, sql } from 'drizzle-orm'
import { ACCESS_COLUMNS } from '../access/scope.ts'
import type { PreparedStatement } from '../prepared-statement.ts'
import { prepareStatement } from '../render-statement.ts'
import { AFTER_LAST, AFTER_SINCE, allBrandsStatement, CHANGES_KEY, totalOfAll } from './all-brands.ts'
import { columnOf, type PagedRows, type Part, pageStatement, totalOf } from './keyset.ts'
import { FILE_PART, PAGE } from './size.ts'
import { type KeyedRow, keyAfter, list, sizedColumns } from './sized-rows.ts'

/** A statement that reads rows, and the most that it returns. */
export type PageStatement = PreparedStatement & { readonly size: number }

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
 * Builds the statements of an endpoint. Each checks access, brand and window and reads rows in one round trip; it
 * returns no row without an active key, else one row. Placeholders: those of `activeKey`, `brand_id`,
 * `window_by_plan`, `since` where there is one, and `after_0` … with the key of the last row before.
 */
export function pageStatements(rows: PagedRows): PageStatements {
  const { table, since } = rows
  const after = keyAfter(rows.key.map((name) => columnOf(table, name)))
  const key = list(rows.key.map((name) => sql`${sql.identifier(name)}`))
  const first =
    since === undefined
      ? sql`(brand_id, date) >= (reading.brand_id, reading.first)`
      : sql`(brand_id, ${sql.identifier(since)}) > (reading.brand_id, ${sql.placeholder('since')}) and date >= reading.first`
  const next = sql`(brand_id, ${key}) > (reading.brand_id, ${after}) and date >= reading.first`
  const prepared = prepareParts((part) => pageStatement(rows, part), {
    ...rows,
    columns: ['brand_id', 'as_of'],
  })
  return {
    first: prepared({ from: first, size: PAGE }),
    next: prepared({ from: next, size: PAGE }),
    firstOfFile: prepared({ from: first, size: PAGE, total: totalOf(rows, first) }),
    nextOfFile: prepared({ from: next, size: FILE_PART }),
  }
}

/** Builds the statements of the changes of every brand that the key reads, as {@link pageStatements} does for one. */
export function allBrandsStatements(rows: PagedRows): PageStatements {
  const columns = { ...rows, key: CHANGES_KEY, columns: ['as_of', 'brands_digest'] }
  const prepared = prepareParts((part) => allBrandsStatement(rows, part), columns)
  return {
    first: prepared({ from: AFTER_SINCE, size: PAGE }),
    next: prepared({ from: AFTER_LAST, size: PAGE }),
    firstOfFile: prepared({ from: AFTER_SINCE, size: PAGE, total: totalOfAll(rows, AFTER_SINCE) }),
    nextOfFile: prepared({ from: AFTER_LAST, size: FILE_PART }),
  }
}

/** `columns` are those between the columns of the access and those of the rows. */
const prepareParts =
  (
    statement: (part: Part) => SQL,
    { columns, ...rows }: KeyedRow & { readonly columns: readonly string[] },
  ) =>
  (part: Part): PageStatement => {
    const names = [...ACCESS_COLUMNS, ...columns, ...sizedColumns({ ...rows, total: part.total })]
    return { ...prepareStatement(statement(part), names), size: part.size.rows }
  }
