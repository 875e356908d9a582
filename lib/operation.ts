import type { Deprecation } from './deprecation.ts'
import type { PreparedStatement } from './prepared-statement.ts'
import type { RowSchema } from './row.ts'

/**
 * The figure of a window, made of sums over its rows: part / whole × 100, without a value where `whole` is 0. With `per`,
 * one figure for each value of that field.
 */
export type Formula = { readonly part: string; readonly whole: string; readonly per?: string }

/** What an endpoint says of itself: the OpenAPI document is made of these. */
export type Operation = {
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly row: RowSchema
  /** Since when it is deprecated, and until when it stays; undefined for what shall stay. */
  readonly deprecated?: Deprecation
  /** Whether it takes the common parameters and answers in pages. */
  readonly paged: boolean
  /** How the figure of a window is made, where there is one. */
  readonly formula?: Formula
}

/** A Worker that answers requests, with what it says of itself. */
export type DocumentedWorker = {
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>
  readonly operation: Operation
  /** The statements that the database may hold for it. */
  readonly statements: readonly PreparedStatement[]
}
