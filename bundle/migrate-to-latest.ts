import type { Client } from 'pg'
import { UsageError } from '../drizzle/db/connect.ts'
import { migrate, SchemaConflictError } from '../drizzle/db/migrate.ts'
import type { StatementFunction } from '../drizzle/db/prepared-statements.ts'
import { functionName, type PreparedStatement, STATEMENTS } from '../lib/prepared-statement.ts'
import { findWorkers } from './find-workers.ts'

/**
 * Brings a database to the current schema, and gives it the statements that the Workers of this version send. Its tables
 * are made in `schema`, where they are not there yet; in `public` unless it says otherwise. Throws a {@link UsageError} when
 * another application is in the way.
 */
export async function migrateToLatest(client: Client, schema?: string): Promise<void> {
  const kept = (await findWorkers()).flatMap(({ statements }) =>
    statements.flatMap((each) => (each.smaller === undefined ? [each] : [each, each.smaller])),
  )
  await migrate(client, { schema, statements: await toStatementFunctions(kept) }).catch((error) => {
    if (!(error instanceof SchemaConflictError)) throw error
    throw new UsageError(`${error.message}: npm run migrate -- --schema export_api makes them beside those.`)
  })
}

/** Statements as a database is to hold them, under the names by which Workers ask for them. */
export const toStatementFunctions = (
  statements: readonly PreparedStatement[],
): Promise<StatementFunction[]> =>
  Promise.all(
    statements.map(async (statement) => ({
      schema: STATEMENTS,
      name: await functionName(statement),
      sql: statement.sql,
      parameters: statement.params.length,
      columns: statement.columns,
    })),
  )
