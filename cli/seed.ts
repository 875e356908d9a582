import type { Client } from 'pg'
import { UsageError, withDatabase } from '../drizzle/db/connect.ts'
import { refreshAll } from '../drizzle/db/refresh.ts'
import { seedDemo } from '../drizzle/seed/demo.ts'
import { createCommand, DATABASE_URL } from './local/command.ts'
import { run } from './run.ts'

createCommand('seed', {
  description: 'Loads the demo data into a database. Replaces only what it loaded before.',
  variables: DATABASE_URL,
}).parse()

await run(() =>
  withDatabase(async (client) => {
    await requireOwnTables(client)
    await seedDemo(client, new Date().toISOString().slice(0, 10))
    await refreshAll(client)
    console.log('Loaded the demo data.')
  }),
)

/** An application's own tables can have the same names; the demo must not change them. */
async function requireOwnTables(client: Client): Promise<void> {
  const { rowCount } = await client.query(
    `select from daily.source_tables() where source = 'answers' and base = to_regclass('answers')`,
  )
  if (rowCount === 0)
    throw new UsageError('The database belongs to another application. Use an empty database for the demo.')
}
