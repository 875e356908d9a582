import type { Deprecation } from './deprecation.ts'
import type { PreparedStatement } from './prepared-statement.ts'
import type { RowSchema } from './row.ts'

/** How to compute a window's figure from sums over its rows: part / whole × 100, undefined when `whole` is 0. */
export type Formula = {
  readonly part: string
  readonly whole: string
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
  readonly deprecated?: Deprecation
  /** A listing has no pages and no window; a metric and the changes have pages of a brand's rows. */
  readonly kind: 'listing' | 'metric' | 'changes'
  readonly formula?: Formula
}

/** A Worker with its declaration and its prepared statements. */
export type DocumentedWorker = {
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>
  readonly operation: Operation
  readonly statements: readonly PreparedStatement[]
}
