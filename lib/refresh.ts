import { sql } from 'drizzle-orm'
import { run } from './db.ts'
import { parseEnv } from './env.ts'
import { prepare } from './prepared-statement.ts'

/** What one transaction brings up to date at most: small enough to end within a request's patience. */
const STEP = { brands: 10, days: 3 }

/** Milliseconds that one step may take: what takes longer is for `npm run refresh`. */
const PATIENCE_MS = 40_000

/** Milliseconds after which a run begins no further step: the next minute's run goes on. */
const RUN_MS = 20_000

const begin = prepare(sql`select daily.enqueue_rolling_window(false)::text`)

const step = prepare(
  sql`select daily.refresh(${sql.placeholder('brands')}::int, ${sql.placeholder('days')}::int)::text`,
)

/** A scheduled Worker that brings the daily tables up to date, newest days first, a bounded amount a run. */
export function refresher(): { scheduled: (event: unknown, bindings: object) => Promise<void> } {
  return {
    async scheduled(_event, bindings) {
      const env = parseEnv(bindings)
      const end = Date.now() + RUN_MS
      let settled = 0
      await run({ env, log: null }, begin, {}, PATIENCE_MS)
      while (Date.now() < end) {
        const [row] = await run({ env, log: null }, step, STEP, PATIENCE_MS)
        if (row?.[0] === '0') break
        settled += Number(row?.[0])
      }
      if (settled > 0) console.log(JSON.stringify({ event: 'refreshed', settled }))
    },
  }
}
