import type { Client } from 'pg'
import { refreshAll } from '../drizzle/daily/refresh.ts'
import { seedDemo } from '../drizzle/seed/demo.ts'
import { Mistake, withDatabase } from './database.ts'
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
    throw new Mistake('The database holds an application of its own: the demo is not for it.')
}
