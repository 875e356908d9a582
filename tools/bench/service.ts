import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { type Emulator, NO_OUTER_LIMIT, startEmulator } from '../../emulator/start.ts'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { RATE_LIMIT } from '../../lib/rate-limit.ts'

/** All Workers, and a connection that sends one request at a time. */
export type Service = {
  readonly emulator: Emulator
  readonly pool: Pool
  readonly state: State
}

/**
 * Milliseconds to each server, how many requests of the budget Workers have taken, the last request to Neon, and the
 * bytes of all its responses.
 */
type State = {
  neon: number
  upstash: number
  consumed: number
  sent: { readonly query: string; readonly params: readonly unknown[] }
  receivedBytes: number
}

type Servers = {
  readonly databaseUrl: string
  readonly redisUrl?: string | undefined
  /** Requests a minute of an address and of a key. */
  readonly outerLimit?: number
}

const TIMEOUT_MS = 30_000

/** Starts all Workers. Without a Redis server, the budget always has requests left; without a limit, so has the outer one. */
export async function withService<Result>(
  { databaseUrl, redisUrl, outerLimit = NO_OUTER_LIMIT }: Servers,
  work: (service: Service) => Promise<Result>,
): Promise<Result> {
  const state: State = {
    neon: 0,
    upstash: 0,
    consumed: 0,
    sent: { query: '', params: [] },
    receivedBytes: 0,
  }
  const intercept: Intercept = async (server, request, genuine) => {
    if (state[server] > 0) await delay(state[server])
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
    const refill = Date.now() + RATE_LIMIT.refill.seconds * 1000
    return Response.json({ result: [RATE_LIMIT.requests - 1, refill, RATE_LIMIT.requests] })
  }
  const emulator = await startEmulator({
    databaseUrl,
    redisUrl,
    host: '127.0.0.1',
    port: 0,
    inspectorPort: 0,
    crons: false,
    outerLimit,
    intercept,
  })
  const pool = new Pool(emulator.url, {
    connections: 1,
    pipelining: 1,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  })
  try {
    return await work({ emulator, pool, state })
  } finally {
    await pool.close()
    await emulator.close()
  }
}
