import type { Client } from 'pg'
import { migrate, Occupied } from '../drizzle/migrate.ts'
import type { HeldStatement } from '../drizzle/statements.ts'
import { functionName, type KeptStatement, STATEMENTS } from '../lib/statement.ts'
import { Mistake } from './database.ts'
import { findWorkers } from './operations.ts'

/**
 * Brings a database to the current schema, and gives it the statements that the Workers of this version send. Its tables
 * are made in `schema`, where they are not there yet; in `public` unless it says otherwise. Throws a {@link Mistake} when
 * another application is in the way.
 */
export async function bringToCurrent(client: Client, schema?: string): Promise<void> {
  const kept = (await findWorkers()).flatMap(({ statements }) =>
    statements.flatMap((each) => (each.smaller === undefined ? [each] : [each, each.smaller])),
  )
  await migrate(client, { schema, statements: await toBeHeld(kept) }).catch((error) => {
    if (!(error instanceof Occupied)) throw error
    throw new Mistake(`${error.message}: npm run migrate -- --schema export_api makes them beside those.`)
  })
}

/** Statements as a database is to hold them, under the names by which Workers ask for them. */
export const toBeHeld = (statements: readonly KeptStatement[]): Promise<HeldStatement[]> =>
  Promise.all(
    statements.map(async (statement) => ({
      schema: STATEMENTS,
      name: await functionName(statement),
      sql: statement.sql,
      parameters: statement.params.length,
      columns: statement.columns,
    })),
  )
