import type { Query, SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { STATEMENTS } from '../drizzle/db/prepared-statements.ts'
import { sha256 } from './hash.ts'

/**
 * A statement that the database may hold as a function: Postgres keeps the plan of a function's statement per
 * connection, and plans a statement that arrives as text each time. All parameters and columns are text.
 */
export type PreparedStatement = Query & {
  /** Names of the result's columns. */
  readonly columns: readonly string[]
}

/** Renders a statement once, with `sql.placeholder(name)` for each request's values. */
export const toQuery = (statement: SQL): Query => new PgDialect().sqlToQuery(statement)

/** Renders a statement that the database may hold as a function. */
export const prepareStatement = (statement: SQL, columns: readonly string[]): PreparedStatement => ({
  ...toQuery(statement),
  columns,
})

/** Returns the name of a statement's function: 32 hex digits of its text's SHA-256. */
export const functionName = async ({ sql }: Query): Promise<string> => (await sha256(sql)).slice(0, 32)

const calls = new WeakMap<Query, Query>()

/** Returns the statement that calls another's function with the same parameters. */
export async function callOf(query: Query): Promise<Query> {
  const known = calls.get(query)
  if (known !== undefined) return known
  const parameters = query.params.map((_, index) => `$${index + 1}`)
  const sql = `select * from ${STATEMENTS}."${await functionName(query)}"(${parameters.join(', ')})`
  const call = { ...query, sql }
  calls.set(query, call)
  return call
}
