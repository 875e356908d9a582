import type { Query, SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { sha256 } from './api-key.ts'

/** The schema whose functions hold statements. */
export const STATEMENTS = 'statements'

/**
 * A statement that the database may hold as a function as well. A connection keeps a function's plan, while a statement
 * that comes as text is planned each time. All of its parameters and columns are text.
 */
export type PreparedStatement = Query & {
  readonly columns: number
  /** What to send instead where the answer is larger than Neon's limit; it takes the same parameters. */
  readonly smaller?: PreparedStatement
}

/** Writes a statement out once, with `sql.placeholder(name)` where each request's values go. */
export const prepare = (statement: SQL): Query => new PgDialect().sqlToQuery(statement)

/** Writes a statement out that the database may hold; `columns` is how many its rows have. */
export const prepareStatement = (
  statement: SQL,
  columns: number,
  smaller?: PreparedStatement,
): PreparedStatement => ({
  ...prepare(statement),
  columns,
  ...(smaller && { smaller }),
})

/** The name of the function that holds a statement: 32 digits of its text's SHA-256, so that each text has its own. */
export const functionName = async ({ sql }: Query): Promise<string> => (await sha256(sql)).slice(0, 32)

const calls = new WeakMap<Query, Query>()

/** The statement that calls the function which holds another, with the same parameters. */
export async function callOf(query: Query): Promise<Query> {
  const known = calls.get(query)
  if (known !== undefined) return known
  const parameters = query.params.map((_, index) => `$${index + 1}`)
  const sql = `select * from ${STATEMENTS}."${await functionName(query)}"(${parameters.join(', ')})`
  const call = { ...query, sql }
  calls.set(query, call)
  return call
}
