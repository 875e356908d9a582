import { Redis } from '@upstash/redis/cloudflare'
import { run } from '../../../lib/db.ts'
import { type Bindings, send } from '../way.ts'

/** Asks both servers for next to nothing, side by side, and sends the service's page as a constant. */
export default {
  async fetch(_request: Request, bindings: Bindings): Promise<Response> {
    const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token, PAGE } = bindings
    const redis = new Redis({ url, token, enableTelemetry: false, enableAutoPipelining: false })
    await Promise.all([run({ env: bindings, log: null }, { sql: 'select 1', params: [] }, {}), redis.ping()])
    return send(PAGE)
  },
}
