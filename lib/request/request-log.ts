import type { HonoRequest } from 'hono'
import { readApiKey } from './api-key.ts'
import type { Middleware, RequestLog, Service } from './context.ts'
import { sha256 } from './hash.ts'

/** The name of each service in `Server-Timing`. */
const SERVICES: Readonly<Record<Service, string>> = { neon: 'db', upstash: 'budget' }

const VALID_ID = /^[A-Za-z0-9._-]{1,64}$/

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Logs each request as one JSON line, and adds `X-Request-Id` and `Server-Timing` to its response. */
export const requestLog: Middleware = async (context, next) => {
  const log = await startLog(context.req)
  context.set('log', log)
  await next()
  finishLog(log, context.res)
}

/** Starts the log of a request. Takes a valid `X-Request-Id` of the client, else Cloudflare's ray, else a new id. */
async function startLog(request: HonoRequest): Promise<RequestLog> {
  const given = [request.header('X-Request-Id'), request.header('CF-Ray')]
  const key = readApiKey(request.header('X-API-Key') ?? '')
  return {
    id: given.find((id) => id !== undefined && VALID_ID.test(id)) ?? crypto.randomUUID(),
    method: request.method,
    start: performance.now(),
    keyHash: key && (await sha256(key)),
    traceparent: TRACEPARENT.exec(request.header('traceparent') ?? '')?.[0],
    endpoint: null,
    keyId: null,
    organizationId: null,
    rows: null,
    subrequests: { neon: 0, upstash: 0 },
    waits: new Map(),
  }
}

/** Counts and times a request to a service; without a log it only sends it. */
export async function timed<Value>(
  log: RequestLog | null,
  service: Service,
  request: () => Promise<Value>,
): Promise<Value> {
  if (log === null) return request()
  const start = performance.now()
  log.subrequests[service] += 1
  try {
    return await request()
  } finally {
    log.waits.set(service, (log.waits.get(service) ?? 0) + performance.now() - start)
  }
}

function finishLog(log: RequestLog, response: Response): void {
  console.log(
    JSON.stringify({
      event: 'request',
      request_id: log.id,
      traceparent: log.traceparent,
      // The key of a 401 or 429, whose id is not known.
      key_hash: log.keyHash?.slice(0, 16) ?? null,
      key_id: log.keyId,
      organization_id: log.organizationId,
      method: log.method,
      endpoint: log.endpoint,
      status: response.status,
      rows: log.rows,
      // Cloudflare's clock stands still while a Worker computes: this is time spent waiting.
      ms: Math.round(performance.now() - log.start),
      subrequests: log.subrequests,
    }),
  )
  response.headers.set('X-Request-Id', log.id)
  const timing = [...log.waits].map(([service, ms]) => `${SERVICES[service]};dur=${Math.round(ms)}`)
  if (timing.length > 0) response.headers.set('Server-Timing', timing.join(', '))
}
