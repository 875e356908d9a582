import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request } from 'undici'
import { portOf } from '../../emulator/port.ts'
import { BASE } from '../../lib/app.ts'
import { readStreams } from '../../reference/streams.ts'
import { type Alteration, alterPage } from './alter.ts'

/**
 * What a loader receives instead of a response: a connection that closes before it or in its middle, a page of a
 * metric with other rows, or a status. `only: 'metrics'` passes on all requests but those of metrics.
 */
export type Fault =
  | null
  | 'dropped'
  | 'cut'
  | { readonly alter: Alteration }
  | {
      readonly status: number
      readonly error?: string
      /** Seconds. */
      readonly retryAfter?: number
      readonly only?: 'metrics'
    }

/** A request during which something happens: a later page of a metric, or a list of the changes of all brands. */
export type Watched = 'later page' | 'all changes'

/** What happens before and after each request of a kind. */
export type Watch = {
  readonly request: Watched
  readonly before: () => Promise<unknown>
  readonly after: () => Promise<unknown>
}

/** How much one run sent. */
export type Traffic = { requests: number }

const METRICS = readStreams().flatMap(({ kind, endpoint }) =>
  kind === 'metric' ? `${BASE}/${endpoint}` : [],
)

/** A timer may fire this much before its time. */
const TOLERANCE_MS = 50

/** Starts a proxy in front of the service that meets requests with faults, in the order in which they arrive. */
export async function startProxy(service: string) {
  let faults: Fault[] = []
  let watch: Watch | undefined
  let traffic: Traffic = { requests: 0 }
  const agents = new Set<string>()
  const early = new Set<string>()
  let hasRetried = false
  /** When a request may be sent again. */
  const notBefore = new Map<string, number>()

  async function nextFault({ url: target = '', headers }: IncomingMessage): Promise<Fault> {
    const { pathname } = new URL(target, service)
    traffic.requests += 1
    agents.add(headers['user-agent'] ?? '')
    const time = notBefore.get(target)
    hasRetried ||= time !== undefined
    const remaining = (time ?? 0) - performance.now()
    if (remaining > TOLERANCE_MS) early.add(`${pathname}, ${(remaining / 1000).toFixed(1)} s early`)

    const fault = faults.shift() ?? null
    if (typeof fault !== 'object' || fault === null) return fault
    if (('alter' in fault || fault.only) && !METRICS.includes(pathname)) return null
    if ('alter' in fault) return fault
    if (fault.retryAfter !== undefined) notBefore.set(target, performance.now() + fault.retryAfter * 1000)
    return fault
  }

  const server = createServer(async (received, response) => {
    const fault = await nextFault(received)
    const watching = watch?.request === watchedOf(received.url) ? watch : undefined
    await watching?.before()
    if (fault === 'dropped') response.destroy()
    else if (fault === null || fault === 'cut' || 'alter' in fault)
      await forward(service, received, { response, fault, after: watching?.after })
    else respond(response, fault)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    /** User-Agents of all runs. */
    agents,
    /** Requests of all runs that were sent again too early. */
    early,
    /** Returns whether a run has sent a request again after `Retry-After`, or too early. */
    hasRetried: () => hasRetried,
    /** Prepares for a run. Returns what that run sends, as it is counted. */
    begin: (meets: readonly Fault[] = [], watches?: Watch): Traffic => {
      faults = [...meets]
      watch = watches
      notBefore.clear()
      traffic = { requests: 0 }
      return traffic
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Returns which kind of request it is that can be watched. */
function watchedOf(target = ''): Watched | undefined {
  const { pathname, searchParams } = new URL(target, 'http://proxy')
  if (METRICS.includes(pathname) && searchParams.get('cursor')) return 'later page'
  return pathname === `${BASE}/changes` && !searchParams.has('brandId') ? 'all changes' : undefined
}

function respond(
  response: ServerResponse,
  { status, error = 'Later.', retryAfter }: Extract<Fault, { readonly status: number }>,
) {
  const wait = retryAfter !== undefined && { 'Retry-After': String(retryAfter) }
  response.writeHead(status, { 'Content-Type': 'application/json', ...wait })
  response.end(JSON.stringify({ error }))
}

type Forwarding = {
  readonly response: ServerResponse
  readonly fault: Exclude<Fault, 'dropped' | { readonly status: number }>
  /** Runs before the loader has the response. */
  readonly after: (() => Promise<unknown>) | undefined
}

/** Sends a request to the service, with a rate limit and a connection of its own. */
async function forward(service: string, received: IncomingMessage, { response, fault, after }: Forwarding) {
  const { connection: _, 'keep-alive': __, 'accept-encoding': ___, ...headers } = received.headers
  const method = received.method === 'HEAD' ? 'HEAD' : 'GET'
  const own = { ...headers, 'user-agent': randomUUID() }
  try {
    const served = await request(new URL(received.url ?? '', service), { method, headers: own, reset: true })
    const sent = Buffer.from(await served.body.arrayBuffer())
    await after?.()
    const isAltered = typeof fault === 'object' && fault !== null && served.statusCode === 200
    const body = isAltered ? Buffer.from(alterPage(sent.toString(), fault.alter)) : sent
    const { 'transfer-encoding': ____, connection: _____, ...rest } = served.headers
    response.writeHead(served.statusCode, {
      ...rest,
      ...(method === 'GET' && { 'content-length': body.length }),
    })
    if (fault === 'cut') response.write(body.subarray(0, body.length / 2), () => response.destroy())
    else response.end(body)
  } catch {
    // The service is closed when a loader that was killed leaves a request behind.
    response.destroy()
  }
}
