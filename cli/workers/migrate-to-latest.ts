import type { Client } from 'pg'
import { UsageError } from '../../drizzle/db/connect.ts'
import { migrate, SchemaConflictError } from '../../drizzle/db/migrate.ts'
import { activateRowSchemas, type RowSchema } from '../../drizzle/db/row-schemas.ts'
import { functionName } from '../../lib/database/statement.ts'
import { fieldNames, totalsOf } from '../../lib/rows/schema.ts'
import { findWorkers } from './find-workers.ts'

/** Migrates a database that no other version of the Workers reads: activates at once what {@link migrateSchema} stages. */
export async function migrateToLatest(client: Client, schema?: string): Promise<void> {
  await migrateSchema(client, schema)
  // Not in the transaction of the migrations, which holds up the application where it changes tables.
  await activateRowSchemas(client)
}

/**
 * Migrates a database, installs the prepared statements of this version's Workers and stages their rows. `schema` is
 * where a new database gets its tables, `public` by default. Throws {@link UsageError} when tables of another application are in
 * the way.
 */
export async function migrateSchema(client: Client, schema?: string): Promise<void> {
  const workers = await findWorkers()
  const statements = workers.flatMap(({ statements }) => Object.values(statements))
  const functions = statements.map(async (statement) => ({
    name: await functionName(statement),
    sql: statement.sql,
    parameters: statement.parameters.length,
    columns: statement.columns,
  }))
  await migrate(client, {
    rowSchemas: toRowSchemas(workers),
    statements: await Promise.all(functions),
    schema,
  }).catch((error) => {
    if (!(error instanceof SchemaConflictError)) throw error
    throw new UsageError(
      `${error.message} Run \`npm run migrate -- --schema export_api\` to use another schema.`,
    )
  })
}

/** Returns the row schemas of the metrics among Workers. */
export const toRowSchemas = (workers: Awaited<ReturnType<typeof findWorkers>>): RowSchema[] =>
  workers
    .filter(({ operation }) => operation.kind === 'metric')
    .map(({ name, operation: { row } }) => ({
      metric: name.replaceAll('-', '_'),
      endpoint: name,
      fields: fieldNames(row),
      totals: totalsOf(row),
    }))
