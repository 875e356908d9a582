import { sql } from 'drizzle-orm'
import { run } from '../database/db.ts'
import { renderStatement } from '../database/statement.ts'
import { AS_OF_ALL, instant } from '../refresh/as-of.ts'
import type { App, RequestContext } from '../request/context.ts'
import type { Result } from './app.ts'
import { endpoint } from './endpoint.ts'

/** Reads the time before which every change is in the responses of all brands. */
const asOfStatement = renderStatement(sql`select ${instant(AS_OF_ALL)} as as_of`)

/**
 * Milliseconds to wait for each service: together less than a load balancer waits. Neon's proxy tries for 3 s to reach a
 * compute that restarts.
 */
const TIMEOUT = { databaseMs: 4000, counterMs: 800 }

/** Milliseconds for which an isolate answers from its last check: a flood must not become one of statements. */
const COPY_MS = 5000

/** What the database answered: the time of the data, or the error. */
type Check = { readonly asOf: string | null } | { readonly error: unknown }

/**
 * Builds the health check: 200 while the database answers, else 503. Reports an unavailable counter and the time before
 * which every change is in the responses of all brands (null before the first refresh); neither is a failure. What
 * the database answered can be 5 seconds old.
 */
export function health({ path }: { path: string }): App {
  let last: { readonly check: Check; readonly end: number } | undefined

  async function checkDatabase({ var: { env, log, now } }: RequestContext): Promise<Check> {
    if (last !== undefined && now.getTime() < last.end) return last.check
    const check = await run({ env, log }, asOfStatement, {}, TIMEOUT.databaseMs).then(
      (row) => ({ asOf: row?.as_of ?? null }),
      (error: unknown) => ({ error }),
    )
    const end = now.getTime() + COPY_MS
    // A check that began earlier can end later.
    if (last === undefined || last.end < end) last = { check, end }
    return check
  }

  async function handler(context: RequestContext): Promise<Result> {
    const check = await checkDatabase(context)
    if ('error' in check) throw check.error
    return {
      body: JSON.stringify({
        status: 'ok',
        counter: context.var.budget === null ? 'unavailable' : 'ok',
        dataAsOf: check.asOf,
      }),
      headers: { 'Cache-Control': 'no-store' },
      cacheable: false,
    }
  }
  // First: a client without requests left must not reach the database.
  return endpoint({ path, rateLimit: { order: 'first', timeoutMs: TIMEOUT.counterMs }, handler })
}
