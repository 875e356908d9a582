import type { PreparedStatement } from './prepared-statement.ts'
import type { RowSchema } from './row-schema.ts'

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
  /** The brands have no pages and no window; a metric and the changes have pages of a brand's rows. */
  readonly kind: 'brands' | 'metric' | 'changes'
  readonly formula?: Formula
}

/** An endpoint as a file of functions/ declares it. Its Worker contains `serve(data)` instead (bundle/render-workers.ts). */
export type Declaration<Data extends object = object> = {
  readonly operation: Operation
  readonly statements: readonly PreparedStatement[]
  /** The file of lib/ with the function `serve`. */
  readonly servedBy: string
  /** What the Worker needs of the declaration, as JSON has it. */
  readonly data: Data
}
