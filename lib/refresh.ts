import { sql } from 'drizzle-orm'
import { type QueryContext, required, run } from './db.ts'
import { parseEnv } from './env.ts'
import { toQuery } from './prepared-statement.ts'

/** The most days of one metric that one statement computes. A day of a large brand takes about 100 ms. */
const MAX_DAYS = 30

/** How long one transaction computes: the way to the database then hardly counts. */
const BUDGET = '2 s'

/** Milliseconds that one transaction may take. Longer ones are for `npm run refresh`. */
const TIMEOUT_MS = 40_000

/** Milliseconds after which a run starts no further transaction. The next run begins a minute after this one. */
const RUN_MS = 50_000

/** Milliseconds to wait for another refresh. */
const PAUSE_MS = 1000

/** An age of the oldest entry, in seconds, above which the refresh is too slow for the changes. */
const BEHIND_S = 120

const begin = toQuery(
  sql`select daily.enqueue_rolling_window(false)::text as entries, daily.enqueue_rechecks()::text as rechecks`,
)

const refresh = toQuery(sql`
  select brand_id::text, processed::text, failure::text, ceil(oldest_s)::text as oldest_s
  from daily.refresh(${sql.placeholder('after')}::uuid, ${BUDGET}::interval, ${MAX_DAYS}::int)`)

/** Builds the scheduled Worker that recomputes the days in the queue. */
export function refresher(): { scheduled: (event: unknown, bindings: object) => Promise<void> } {
  return {
    async scheduled(_event, bindings) {
      const context = { env: parseEnv(bindings), log: null }
      await run(context, begin, {}, TIMEOUT_MS)
      await processQueue(context, Date.now() + RUN_MS)
    },
  }
}

/** Processes the queue until it is empty or `end`, and logs how far it came. */
async function processQueue(context: QueryContext, end: number): Promise<void> {
  // A random first brand: one that takes too long does not end every run before the others.
  let after: string = crypto.randomUUID()
  let entries = 0
  let failure: string | null = null
  let oldest: string | null = null
  while (Date.now() < end) {
    const row = await run(context, refresh, { after }, TIMEOUT_MS)
    if (row?.processed == null) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      continue
    }
    const processed = Number(row.processed)
    entries += processed
    failure = row.failure ?? failure
    oldest = row.oldest_s ?? null
    if (processed === 0) break
    after = required(row.brand_id)
  }
  if (entries > 0) console.log(JSON.stringify({ event: 'refreshed', entries }))
  if (failure !== null) {
    const { metric, brand_id, date, code } = JSON.parse(failure)
    console.error(JSON.stringify({ event: 'day_failed', metric, brand_id, date, code }))
  }
  if (Number(oldest) > BEHIND_S)
    console.warn(JSON.stringify({ event: 'refresh_behind', oldest_s: Number(oldest) }))
}
