import { migrateToLatest } from '../cli/workers/migrate-to-latest.ts'
import { withClient } from '../drizzle/db/connect.ts'
import { refreshAll } from '../drizzle/db/refresh.ts'
import { DEMO, seedDemo } from '../drizzle/seed/demo.ts'
import { startEmulator } from './emulator.ts'

type DemoTimes = {
  /** The last day of the demo data (YYYY-MM-DD). */
  readonly day: string
  /** When all days last changed, as `changed_at` has it. */
  readonly changed: string
}

/** Runs work on a service whose rows are the same on each day, and ends the service. Passes the service's URL. */
export async function withDemoService<Result>(
  { day, changed }: DemoTimes,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const emulator = await startEmulator({
    host: '127.0.0.1',
    port: 0,
    crons: false,
    demoPage: { keys: DEMO.keys, restate: async () => [] },
  })
  try {
    await withClient(emulator.databaseUrl, async (client) => {
      await migrateToLatest(client)
      await seedDemo(client, day)
      await refreshAll(client)
      await client.query(
        `update daily.changes set changed_at = $1, first_changed_at = $1,
           causes = daily.add_causes(null, (select jsonb_agg(kind) from json_object_keys(causes) as kind), $1)`,
        [changed],
      )
      await client.query('update daily.changes_clock set last = $1', [changed])
    })
    return await work(emulator.url)
  } finally {
    await emulator.close()
  }
}
