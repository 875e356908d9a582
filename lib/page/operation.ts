import type { PgTable, PgView } from 'drizzle-orm/pg-core'
import type * as z from 'zod/mini'
import type { PreparedStatement } from '../database/statement.ts'
import type { App } from '../request/context.ts'
import type { RowSchema, StoredRowSchema } from '../rows/schema.ts'
import type { PagedRows } from '../statement/page-statement.ts'

/** A field of a row, or the count that a rate in percent stands for: round(rate × of / 100). */
export type Term = string | { readonly rate: string; readonly of: string }

/**
 * How to compute a window's figure: part / whole × 100, undefined when `whole` is 0. Each side adds up the sums of its
 * terms over the window's rows.
 */
export type Formula = {
  readonly part: readonly Term[]
  readonly whole: readonly Term[]
  /** Field whose values have a figure each. */
  readonly per?: string
  /** Field whose values have a figure each, next to the figure of all rows. */
  readonly breakdown?: string
}

/** What an endpoint declares about itself; the OpenAPI document is built from these. */
export type Operation = {
  /** Path below the base. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly row: RowSchema
  /** Fields that identify a row among those of its brand. */
  readonly primaryKey: readonly string[]
  /**
   * The brands have no pages and no window; a metric and the changes have pages of a brand's rows; the days have pages of
   * the rows of all metrics and brands.
   */
  readonly kind: 'brands' | 'metric' | 'changes' | 'days'
  readonly formula?: Formula
}

/** An operation whose rows are stored. Its fields and key are checked against the columns of `Rows`. */
export type StoredOperation<Shape extends z.core.$ZodShape, Rows extends PgTable | PgView> = Omit<
  Operation,
  'kind' | 'row' | 'primaryKey'
> & {
  readonly row: StoredRowSchema<Shape, Rows>
  readonly primaryKey: readonly (keyof Shape & string)[]
  readonly rows: Rows
}

/** A Worker that serves an operation, with what the OpenAPI document and the migration need of it. */
export type DocumentedWorker = {
  readonly fetch: App['fetch']
  readonly operation: Operation
  /** The rows of a metric or of the changes. */
  readonly rows?: PagedRows
  /** The statements by their names. */
  readonly statements: Readonly<Record<string, PreparedStatement>>
}
