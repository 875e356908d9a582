import type { Client } from 'pg'
import { migrateToLatest } from '../bundle/migrate-to-latest.ts'
import { withClient } from '../drizzle/db/connect.ts'
import { refreshAll } from '../drizzle/db/refresh.ts'
import { seedDemo } from '../drizzle/seed/demo.ts'
import { startEmbeddedPostgres } from './postgres/embedded.ts'

/** Nobody reads meanwhile, so the transactions need not be short. */
const ALL_AT_ONCE = { brands: 100, days: 400 }

/** Starts an embedded Postgres that holds the demo up to today (UTC), and gives its address. */
export async function startDemo(): Promise<string> {
  const { url } = await startEmbeddedPostgres()
  await withClient(url, async (client) => {
    await migrateToLatest(client)
    await withoutChecks(client, () => seedDemo(client, new Date().toISOString().slice(0, 10)))
    await refreshAll(client, undefined, ALL_AT_ONCE)
  })
  return url
}

/** Checking foreign keys row by row takes as long as the rows themselves, and what fills an empty database needs none. */
async function withoutChecks(client: Client, fill: () => Promise<void>): Promise<void> {
  await client.query('set session_replication_role = replica')
  await fill()
  await client.query('reset session_replication_role')
}
