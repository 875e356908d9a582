import type { HonoRequest } from 'hono'

/** The servers that answers come from, each by its name in `Server-Timing`. */
const SERVERS = { neon: 'db', upstash: 'budget' } as const

type Server = keyof typeof SERVERS

/** What is known of one request so far: whoever learns more writes it down, and it is told once, with the answer. */
export type RequestLog = {
  readonly id: string
  readonly start: number
  /** The path that was asked for, once it is known to be one; null where there is nothing. */
  endpoint: string | null
  /** Whose key it is, as the database says. */
  keyId: string | null
  organizationId: string | null
  rows: number | null
  /** How often each server was asked. */
  readonly trips: Record<Server, number>
  /** Milliseconds that each was waited for. */
  readonly waits: Map<Server, number>
}

const SANE = /^[A-Za-z0-9._-]{1,64}$/

/** Begins the log of a request. Its id is the caller's own where that is sane, else Cloudflare's, else a new one. */
export function startLog(request: HonoRequest): RequestLog {
  const given = [request.header('X-Request-Id'), request.header('CF-Ray')]
  return {
    id: given.find((id) => id !== undefined && SANE.test(id)) ?? crypto.randomUUID(),
    start: performance.now(),
    endpoint: null,
    keyId: null,
    organizationId: null,
    rows: null,
    trips: { neon: 0, upstash: 0 },
    waits: new Map(),
  }
}

/** Counts and times a request to one of the servers; without a log, it is sent and nothing more. */
export async function timed<Value>(
  log: RequestLog | null,
  server: Server,
  ask: () => Promise<Value>,
): Promise<Value> {
  if (log === null) return ask()
  const start = performance.now()
  log.trips[server] += 1
  try {
    return await ask()
  } finally {
    log.waits.set(server, (log.waits.get(server) ?? 0) + performance.now() - start)
  }
}

/** Writes the one line of a request, and marks its answer with the request's id and the time that the servers took. */
export function finishLog(log: RequestLog, response: Response): Response {
  console.log(
    JSON.stringify({
      event: 'request',
      request_id: log.id,
      key_id: log.keyId,
      organization_id: log.organizationId,
      endpoint: log.endpoint,
      status: response.status,
      rows: log.rows,
      // On Cloudflare the clock stands still while a Worker computes: this is the time spent waiting.
      ms: Math.round(performance.now() - log.start),
      trips: log.trips,
    }),
  )
  response.headers.set('X-Request-Id', log.id)
  const timing = [...log.waits].map(([server, ms]) => `${SERVERS[server]};dur=${Math.round(ms)}`)
  if (timing.length > 0) response.headers.set('Server-Timing', timing.join(', '))
  return response
}
