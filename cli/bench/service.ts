import { Pool } from 'undici'
import { type Emulator, NO_OUTER_LIMIT, startEmulator } from '../../emulator/emulator.ts'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { RATE_LIMIT } from '../../lib/limits/token-bucket.ts'

/** All Workers, and a connection that sends one request at a time. They end with the block that declares them. */
export type Service = AsyncDisposable & {
  readonly emulator: Emulator
  readonly pool: Pool
  readonly state: State
}

/** What happens at the edges of the Workers. */
type State = {
  /** Requests to Workers, and how many of them the rate limit counted. */
  requests: number
  consumed: number
  /** The last request to Neon, and the bytes of all its responses. */
  sent: { readonly query: string; readonly params: readonly unknown[] }
  receivedBytes: number
}

type Servers = {
  readonly databaseUrl: string
  readonly redisUrl?: string | undefined
}

/** Starts all Workers. Without a Redis server, the rate limit always has requests left, as the outer one has. */
export async function startService({ databaseUrl, redisUrl }: Servers): Promise<Service> {
  const state: State = { requests: 0, consumed: 0, sent: { query: '', params: [] }, receivedBytes: 0 }
  const intercept: Intercept = async (server, request, genuine) => {
    if (server === 'neon') {
      state.sent = await request.clone().json()
      const response = await genuine()
      const body = await response.arrayBuffer()
      state.receivedBytes += body.byteLength
      return new Response(body, response)
    }
    if (redisUrl) return undefined
    // The last argument of the limiter's script.
    state.consumed += Number((await request.json()).at(-1))
    const refillAt = Date.now() + RATE_LIMIT.refill.seconds * 1000
    return Response.json({ result: [RATE_LIMIT.requests - 1, refillAt, RATE_LIMIT.requests] })
  }
  const emulator = await startEmulator({
    databaseUrl,
    redisUrl,
    host: '127.0.0.1',
    port: 0,
    crons: false,
    outerLimit: NO_OUTER_LIMIT,
    intercept,
    onLog: (line) => {
      if (line.startsWith('{"event":"request"')) state.requests += 1
    },
  })
  const pool = new Pool(emulator.url, { connections: 1, pipelining: 1 })
  return {
    emulator,
    pool,
    state,
    [Symbol.asyncDispose]: async () => {
      await pool.close()
      await emulator.close()
    },
  }
}
