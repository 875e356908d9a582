import type { RowSchema } from './row.ts'
import type { KeptStatement } from './statement.ts'

/** What an endpoint says of itself: the OpenAPI document is made of these. */
export type Operation = {
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly row: RowSchema
  /** Whether it takes the common parameters and answers in pages. */
  readonly paged: boolean
}

/** A Worker that answers requests, with what it says of itself. */
export type Described = {
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>
  readonly operation: Operation
  /** The statements that the database may hold for it. */
  readonly statements: readonly KeptStatement[]
}
