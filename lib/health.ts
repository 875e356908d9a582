import { sql } from 'drizzle-orm'
import type { App, RequestContext, Result } from './app.ts'
import { run } from './db.ts'
import { endpoint } from './endpoint.ts'
import { AS_OF_ALL, instant } from './page/as-of.ts'
import { toQuery } from './prepared-statement.ts'

/**
 * Milliseconds to wait for each service: together less than a load balancer waits. Neon's proxy tries for 3 s to reach a
 * compute that restarts.
 */
const TIMEOUT = { databaseMs: 4000, counterMs: 800 }

const query = toQuery(sql`select ${instant(AS_OF_ALL)} as as_of`)

/**
 * Builds the health check: 200 while the database answers, else 503. Reports an unavailable counter and the time before
 * which every change is in the responses of all brands (null before the first refresh); neither is a failure.
 */
export function health({ path }: { path: string }): App {
  async function handler(context: RequestContext): Promise<Result> {
    const { env, log, budget } = context.var
    const row = await run({ env, log }, query, {}, TIMEOUT.databaseMs)
    return {
      body: JSON.stringify({
        status: 'ok',
        counter: budget === null ? 'away' : 'ok',
        dataAsOf: row?.as_of ?? null,
      }),
      headers: { 'Cache-Control': 'no-store' },
      cacheable: false,
    }
  }
  // First: a client without requests left must not reach the database.
  return endpoint({ path, rateLimit: { order: 'first', timeoutMs: TIMEOUT.counterMs }, handler })
}
