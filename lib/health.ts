import { sql } from 'drizzle-orm'
import type { App, RequestContext, Result } from './app.ts'
import { run, toCount } from './db.ts'
import { endpoint } from './endpoint.ts'
import { toQuery } from './prepared-statement.ts'

/**
 * Milliseconds to wait for each service: together less than a load balancer waits. Neon's proxy tries for 3 s to reach a
 * compute that restarts.
 */
const TIMEOUT = { databaseMs: 4000, counterMs: 800 }

// A clock may step back: an age is never negative.
const query = toQuery(sql`
  select greatest(0, floor(extract(epoch from clock_timestamp() - added_at)))::bigint::text as age
  from daily.refresh_queue order by added_at limit 1`)

/**
 * Builds the health check: 200 while the database answers, else 503. Reports an unavailable counter and the age of the
 * oldest change that waits for the refresh; neither is a failure.
 */
export function health({ path }: { path: string }): App {
  async function handler(context: RequestContext): Promise<Result> {
    const { env, log, budget } = context.var
    const oldest = await run({ env, log }, query, {}, TIMEOUT.databaseMs)
    return {
      body: JSON.stringify({
        status: 'ok',
        counter: budget === null ? 'away' : 'ok',
        refreshQueueAgeSeconds: oldest === null ? null : toCount(oldest.age),
      }),
      headers: { 'Cache-Control': 'no-store' },
      cacheable: false,
    }
  }
  // First: a client without requests left must not reach the database.
  return endpoint({ path, budget: { order: 'first', timeoutMs: TIMEOUT.counterMs }, handler })
}
