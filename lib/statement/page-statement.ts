import { type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { dailyChanges } from '../../drizzle/tables/refresh.ts'
import { ACCESS_COLUMNS, accessColumns, activeKey, authorize, canRead } from '../access/access.ts'
import type { Plan } from '../access/plans.ts'
import { type Row, runPrepared } from '../database/db.ts'
import { type PreparedStatement, prepareStatement } from '../database/statement.ts'
import { asOf, instant } from '../refresh/as-of.ts'
import type { RequestLog } from '../request/context.ts'
import type { Env } from '../request/env.ts'
import { httpError } from '../request/errors.ts'
import { fieldNames, type RowSchema } from '../rows/schema.ts'
import { FILE_PART, PAGE, type Size } from '../rows/size.ts'
import { dayOfWindow, type Window, windowByPlan, windows } from './window.ts'
import {
  columnOf,
  type KeyedFields,
  type KeyedRow,
  keyAfter,
  names,
  type SizedRowSet,
  sizedColumns,
  sizedRows,
  sizedRowsReader,
  valuesOfKey,
} from './wire.ts'

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

/** A text that sorts after every time. */
export const AFTER_TIMES = 'A'

/** The condition on the last row of the window. */
const untilLast = (since: string | undefined): SQL =>
  since === undefined
    ? sql`(brand_id, date) <= (reading.brand_id, reading.last)`
    : sql`(brand_id, ${sql.identifier(since)}) < (reading.brand_id, ${sql.raw(`'${AFTER_TIMES}'`)}) and date <= reading.last`

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

/** What a statement found. */
export type Page = SizedRowSet & {
  readonly plan: Plan
  readonly organizationId: string
  /** The brand in its canonical form; null for every brand of the key. */
  readonly brandId: string | null
  /** The window under the plan. */
  readonly window: Window
  /** Time before which every commit is in the rows; null before the first refresh. */
  readonly asOf: string | null
  /** Digest of the brands that the key reads; null for one brand. */
  readonly brandsDigest: string | null
}

/** What a statement is asked for. */
export type PageQuery = {
  readonly key_hash: string
  readonly now: Date
  /** The brand, where the statement reads one. */
  readonly brandId: string | undefined
  readonly since: string | undefined
  readonly windowOf: (plan: Plan) => Window
  /** Key of the last row before; empty for the first statement. */
  readonly after: readonly string[]
}

/**
 * Returns a function that reads the result of a statement, which returns at most `limit` rows. It throws 401 and 403 as
 * {@link authorize} does, 404 when the key does not read the brand, and 503 for an incomplete result.
 */
export function resultReader(rows: KeyedFields, brands: 'one' | 'all' = 'one') {
  const readRows = sizedRowsReader(rows)
  return (result: Row | null, limit: number, log: RequestLog): Omit<Page, 'window'> => {
    const row = authorize(result, log)
    const { plan, organization_id: organizationId, brand_id = null, as_of = null, brands_digest = null } = row
    if (brand_id === null && brands === 'one') throw httpError('brand')
    const page = readRows(row, limit, log)
    return { plan, organizationId, brandId: brand_id, asOf: as_of, brandsDigest: brands_digest, ...page }
  }
}

/** Returns a function that runs a statement of `pageStatements` and reads its result; throws as {@link resultReader} does. */
export function pageReader(rows: KeyedFields, brands: 'one' | 'all' = 'one') {
  const readResult = resultReader(rows, brands)
  return async (
    context: { readonly env: Env; readonly log: RequestLog },
    statement: PageStatement,
    { key_hash, now, brandId, since, windowOf, after }: PageQuery,
  ): Promise<Page> => {
    const result = await runPrepared(context, statement, {
      key_hash,
      now: now.toISOString(),
      brand_id: brandId,
      window_by_plan: windowByPlan(windowOf),
      since: since ?? '',
      ...valuesOfKey(after),
    })
    const page = readResult(result, statement.limit, context.log)
    return { ...page, window: windowOf(page.plan) }
  }
}
