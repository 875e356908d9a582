import { fileURLToPath } from 'node:url'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator'
import type { Client } from 'pg'
import { type HeldStatement, holdStatements } from './statements.ts'

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url))

/** Any fixed number: what two migrations of the same database at once wait for each other on. */
const LOCK = 7_220_641

/**
 * Brings the database of `client` to the current schema, in one transaction, and then has it hold some statements; two at
 * once run one after the other.
 */
export async function migrate(client: Client, statements: readonly HeldStatement[] = []): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [LOCK])
  try {
    await applyMigrations(drizzle({ client }), { migrationsFolder: MIGRATIONS })
    await holdStatements(client, statements)
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK])
  }
}
