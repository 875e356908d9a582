import type { Client } from 'pg'
import { UsageError, withDatabase } from '../drizzle/db/connect.ts'
import { refreshAll } from '../drizzle/db/refresh.ts'
import { seedDemo } from '../drizzle/seed/demo.ts'
import { run } from './run.ts'

await run(() =>
  withDatabase(async (client) => {
    await demandOwnTables(client)
    await seedDemo(client, new Date().toISOString().slice(0, 10))
    await refreshAll(client)
    console.log('The demo data is in place.')
  }),
)

/** The demo must not end up among the data of an application whose tables happen to have the same names. */
async function demandOwnTables(client: Client): Promise<void> {
  const { rowCount } = await client.query(
    `select from daily.source_tables() where source = 'answers' and base = to_regclass('answers')`,
  )
  if (rowCount === 0)
    throw new UsageError('The database holds an application of its own: the demo is not for it.')
}
