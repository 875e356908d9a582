import { is, Placeholder, type SQL } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import type { PreparedStatement, Statement } from './prepared-statement.ts'

// No Worker contains this file and those that import it: bundle/ renders the statements.

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
