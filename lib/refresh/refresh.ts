import { sql } from 'drizzle-orm'
import { type Failure, refresh } from '../../drizzle/db/refresh.ts'
import { type QueryContext, run } from '../database/db.ts'
import { renderStatement } from '../database/statement.ts'
import { parseEnv } from '../request/env.ts'
import { AS_OF_ALL } from './as-of.ts'
import { STATEMENT_TIMEOUT_MS, statementRunner } from './scheduled.ts'

/** Reads how far the data of any brand lags behind. */
const lagStatement = renderStatement(
  sql`select ceil(extract(epoch from clock_timestamp() - ${AS_OF_ALL}))::text as seconds`,
)

/** Milliseconds after which a run starts no further call. The next run begins a minute after this one. */
const RUN_MS = 50_000

/** Seconds that data may lag behind before a run reports it. */
const BEHIND_S = 120

/** How many failed days a run logs. Logpush cuts off what an invocation logs beyond 16,384 characters. */
const LOGGED_FAILURES = 50

/** Builds the scheduled Worker that recomputes the days in the queue, with as many lanes as `REFRESH_LANES` says. */
export function refresher() {
  return {
    async scheduled(_: unknown, bindings: object): Promise<void> {
      const env = parseEnv(bindings)
      const context = { env, log: null }
      const lane = statementRunner(context)
      const begun = Date.now()
      let days = 0
      let failures = 0
      try {
        const { untracked } = await refresh({
          lanes: Array(Number(env.REFRESH_LANES)).fill(lane),
          restart: false,
          isOver: () => Date.now() > begun + RUN_MS,
          onStep: (processed) => {
            days += processed
          },
          onFailure: (failure) => {
            failures += 1
            if (failures <= LOGGED_FAILURES) logFailure(failure)
          },
        })
        if (untracked !== null)
          console.error(JSON.stringify({ event: 'tables_untracked', tables: untracked }))
      } finally {
        if (days > 0) console.log(JSON.stringify({ event: 'refreshed', days }))
        const isLong = Date.now() - begun >= STATEMENT_TIMEOUT_MS
        await logLag(context, isLong, Math.max(failures - LOGGED_FAILURES, 0))
      }
    },
  }
}

/** Logs a day that could not be computed, without the message, which can quote data. */
function logFailure({ metric, brand_id, date, code }: Failure): void {
  console.error(JSON.stringify({ event: 'day_failed', metric, brand_id, date, code }))
}

/** Logs how far the data of any brand lags behind, when that is far. What is not in the queue yet counts. */
async function logLag(context: QueryContext, isLong: boolean, unlogged: number): Promise<void> {
  const row = await run(context, lagStatement, {}).catch(() => null)
  const lag_s = Number(row?.seconds)
  // The changes may be too many for the time of a run. The command has no limit.
  const remedy = isLong ? 'npm run refresh' : undefined
  const line = { event: 'refresh_behind', lag_s, remedy, unlogged: unlogged || undefined }
  if (lag_s > BEHIND_S) console.warn(JSON.stringify(line))
}
