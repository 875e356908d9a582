import type { Client } from 'pg'
import { migrate } from '../drizzle/migrate.ts'
import type { HeldStatement } from '../drizzle/statements.ts'
import { functionName, type KeptStatement, STATEMENTS } from '../lib/statement.ts'
import { findWorkers } from './operations.ts'

/** Brings a database to the current schema, and gives it the statements that the Workers of this version send. */
export async function bringToCurrent(client: Client): Promise<void> {
  const kept = (await findWorkers()).flatMap(({ statements }) =>
    statements.flatMap((each) => (each.smaller === undefined ? [each] : [each, each.smaller])),
  )
  await migrate(client, await toBeHeld(kept))
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
