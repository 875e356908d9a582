import { sql } from 'drizzle-orm'
import { run } from './db.ts'
import { endpoint, type RequestContext } from './endpoint.ts'
import { prepare } from './prepared-statement.ts'
import { timed } from './request-log.ts'
import type { Worker } from './worker.ts'

/** Milliseconds that each server has to show that it is there: less than a load balancer waits. */
const PATIENCE = { databaseMs: 3000, counterMs: 800 }

const query = prepare(sql`select 1`)

/**
 * An endpoint for load balancers: 200 while the database answers, else 503. It needs no key and spends no budget. The
 * service serves without its counter, so that one is told of and costs nothing.
 */
export function health({ path }: { path: string }): Worker {
  async function answer({ env, log }: RequestContext) {
    const [counter] = await Promise.all([
      counterState({ env, log }),
      run({ env, log }, query, {}, PATIENCE.databaseMs),
    ])
    return {
      body: JSON.stringify({ status: 'ok', counter }),
      headers: { 'Cache-Control': 'no-store' },
      cacheable: false,
    }
  }
  return endpoint({ path, budget: 'none', answer })
}

async function counterState({ env, log }: Pick<RequestContext, 'env' | 'log'>): Promise<'ok' | 'away'> {
  const ping = async () => {
    const response = await fetch(env.UPSTASH_REDIS_REST_URL, {
      method: 'POST',
      headers: { Authorization: `Bearer ${env.UPSTASH_REDIS_REST_TOKEN}` },
      body: '["PING"]',
      signal: AbortSignal.timeout(PATIENCE.counterMs),
    })
    return response.text()
  }
  const said = await timed(log, 'upstash', ping).catch(() => '')
  return said.includes('PONG') ? 'ok' : 'away'
}
