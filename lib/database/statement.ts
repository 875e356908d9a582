import { is, Placeholder, type SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { STATEMENTS } from '../../drizzle/db/prepared-statements.ts'
import { sha256 } from '../request/hash.ts'

/** A statement, with the names of the values of `$1`, `$2` …. */
export type Statement = { readonly sql: string; readonly parameters: readonly string[] }

/**
 * A statement that the database may hold as a function: Postgres keeps the plan of a function's statement per
 * connection, and plans a statement that arrives as text each time. All parameters and columns are text.
 */
export type PreparedStatement = Statement & {
  /** Names of the result's columns. */
  readonly columns: readonly string[]
}

/** Returns the name of a statement's function: 32 hex digits of its text's SHA-256. */
export const functionName = async ({ sql }: Statement): Promise<string> => (await sha256(sql)).slice(0, 32)

const calls = new WeakMap<Statement, Statement>()

/** Returns the statement that calls another's function with the same parameters. */
export async function callOf(statement: Statement): Promise<Statement> {
  const known = calls.get(statement)
  if (known !== undefined) return known
  const { parameters } = statement
  const numbers = parameters.map((_, index) => `$${index + 1}`)
  const sql = `select * from ${STATEMENTS}."${await functionName(statement)}"(${numbers.join(', ')})`
  const call = { sql, parameters }
  calls.set(statement, call)
  return call
}

/** Renders a statement with `sql.placeholder(name)` for each request's values. */
export function renderStatement(statement: SQL): Statement {
  const { sql, params } = new PgDialect().sqlToQuery(statement)
  const parameters = params.map((param) => {
    if (!is(param, Placeholder)) throw new TypeError('Write the constants of a statement with sql.raw')
    return param.name
  })
  return { sql, parameters }
}

/** Renders a statement that the database may hold as a function. */
export const prepareStatement = (statement: SQL, columns: readonly string[]): PreparedStatement => ({
  ...renderStatement(statement),
  columns,
})
