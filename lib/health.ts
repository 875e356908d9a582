import { sql } from 'drizzle-orm'
import type { App, RequestContext, Result } from './app.ts'
import { type QueryContext, run } from './db.ts'
import { endpoint } from './endpoint.ts'
import type { Env } from './env.ts'
import { toQuery } from './prepared-statement.ts'
import { timed } from './request-log.ts'

/** Milliseconds to wait for each service: less than a load balancer waits. */
const TIMEOUT = { databaseMs: 3000, counterMs: 800 }

const query = toQuery(sql`select 1`)

/** Builds the health check: 200 while the database answers, else 503. An unavailable counter is reported but is no failure. */
export function health({ path }: { path: string }): App {
  async function handler(context: RequestContext): Promise<Result> {
    const { env, log } = context.var
    const [counter] = await Promise.all([
      counterState({ env, log }),
      run({ env, log }, query, {}, TIMEOUT.databaseMs),
    ])
    return {
      body: JSON.stringify({ status: 'ok', counter }),
      headers: { 'Cache-Control': 'no-store' },
      cacheable: false,
    }
  }
  return endpoint({ path, budget: 'none', handler })
}

async function counterState({ env, log }: QueryContext & { readonly env: Env }): Promise<'ok' | 'away'> {
  const ping = async () => {
    const response = await fetch(env.UPSTASH_REDIS_REST_URL, {
      method: 'POST',
      headers: { Authorization: `Bearer ${env.UPSTASH_REDIS_REST_TOKEN}` },
      body: '["PING"]',
      signal: AbortSignal.timeout(TIMEOUT.counterMs),
    })
    return response.text()
  }
  const answer = await timed(log, 'upstash', ping).catch(() => '')
  return answer.includes('PONG') ? 'ok' : 'away'
}
