import { sql } from 'drizzle-orm'
import { run } from './db.ts'
import { parseEnv } from './env.ts'
import { toQuery } from './prepared-statement.ts'

/** What one transaction brings up to date at most: little enough to end within a request's timeout. */
const STEP = { brands: 10, days: 3 }

/** Milliseconds that one step may take. Longer ones are for `npm run refresh`. */
const TIMEOUT_MS = 40_000

/** Milliseconds after which a run starts no further step; the next scheduled run goes on. */
const RUN_MS = 20_000

const begin = toQuery(sql`select daily.enqueue_rolling_window(false)::text as entries`)

const step = toQuery(
  sql`select daily.refresh(${sql.placeholder('brands')}::int, ${sql.placeholder('days')}::int)::text as entries`,
)

/** Builds the scheduled Worker that brings the daily tables up to date, newest days first, a bounded amount per run. */
export function refresher(): { scheduled: (event: unknown, bindings: object) => Promise<void> } {
  return {
    async scheduled(_event, bindings) {
      const context = { env: parseEnv(bindings), log: null }
      const end = Date.now() + RUN_MS
      let entries = 0
      await run(context, begin, {}, TIMEOUT_MS)
      while (Date.now() < end) {
        const row = await run(context, step, STEP, TIMEOUT_MS)
        const processed = Number(row?.entries)
        if (!(processed > 0)) break
        entries += processed
      }
      if (entries > 0) console.log(JSON.stringify({ event: 'refreshed', entries }))
    },
  }
}
