import type { Client } from 'pg'
import { migrateToLatest } from '../bundle/migrate-to-latest.ts'
import { withClient } from '../drizzle/db/connect.ts'
import { refreshAll } from '../drizzle/db/refresh.ts'
import { seedDemo } from '../drizzle/seed/demo.ts'
import { startEmbeddedPostgres } from './postgres/embedded.ts'

/** Large statements: no client reads while the demo is loaded. */
const MAX_DAYS = 400

/** Starts an embedded Postgres with the demo data up to today (UTC) and returns its URL. */
export async function startDemo(): Promise<string> {
  const { url } = await startEmbeddedPostgres()
  await withClient(url, async (client) => {
    await migrateToLatest(client)
    await withoutForeignKeys(client, () => seedDemo(client, new Date().toISOString().slice(0, 10)))
    await refreshAll(client, { maxDays: MAX_DAYS })
  })
  return url
}

/** Foreign key checks take as long as the inserts, and the seed's rows are consistent. */
async function withoutForeignKeys(client: Client, fill: () => Promise<void>): Promise<void> {
  await client.query('set session_replication_role = replica')
  await fill()
  await client.query('reset session_replication_role')
}
