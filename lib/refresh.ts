import { sql } from 'drizzle-orm'
import { type QueryContext, required, run, toFlag } from './db.ts'
import { parseEnv } from './env.ts'
import { toQuery } from './prepared-statement.ts'
import { sleep } from './sleep.ts'

/** The most days of one metric that one statement computes. */
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

// The first brand is a random one: a brand that takes too long then does not end every run before the others.
const begin = toQuery(sql`
  select
    daily.enqueue_rolling_window(false)::text as entries,
    daily.enqueue_rechecks()::text as rechecks,
    clock_timestamp()::text as since,
    (select brand_id::text from daily.refresh_queue where brand_id is not null order by random() limit 1) as after`)

const refresh = toQuery(sql`
  select brand_id::text, processed::text, done::text, failure::text, ceil(oldest_s)::text as oldest_s
  from daily.refresh(
    ${sql.placeholder('after')}::uuid, ${sql.placeholder('since')}::timestamptz, ${BUDGET}::interval,
    ${sql.placeholder('days')}::int)`)

/** Builds the scheduled Worker that recomputes the days in the queue. */
export function refresher(): { scheduled: (event: unknown, bindings: object) => Promise<void> } {
  return {
    async scheduled(_event, bindings) {
      const context = { env: parseEnv(bindings), log: null }
      const start = await run(context, begin, {}, TIMEOUT_MS)
      await processQueue(context, required(start?.since), start?.after ?? null)
    },
  }
}

/** Processes the queue until it is empty or the run is over, and logs how far it came. */
async function processQueue(context: QueryContext, since: string, first: string | null): Promise<void> {
  const end = Date.now() + RUN_MS
  let after = first
  let days = MAX_DAYS
  let entries = 0
  let failure: string | null = null
  let oldest: string | null = null
  try {
    while (Date.now() < end) {
      const row = await run(context, refresh, { after, since, days }, TIMEOUT_MS).catch((error) => {
        if (days === 1) throw error
        // So many days may take too long.
        days = 1
      })
      if (!row) continue
      entries += Number(row.processed)
      after = row.brand_id ?? null
      failure = row.failure ?? failure
      oldest = row.oldest_s ?? null
      if (toFlag(row.done)) break
      // Another refresh is running.
      if (row.processed === null) await sleep(PAUSE_MS)
    }
  } finally {
    if (entries > 0) console.log(JSON.stringify({ event: 'refreshed', entries }))
    if (failure !== null) logFailure(failure)
    if (Number(oldest) > BEHIND_S) {
      console.warn(JSON.stringify({ event: 'refresh_behind', oldest_s: Number(oldest) }))
    }
  }
}

/** Logs a day that could not be computed, without the message, which can quote data. */
function logFailure(failure: string): void {
  const { metric, brand_id, date, code } = JSON.parse(failure)
  console.error(JSON.stringify({ event: 'day_failed', metric, brand_id, date, code }))
}
