import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { portOf } from '../../emulator/port.ts'
import { BASE } from '../../lib/app.ts'

/**
 * What the client receives instead of the service's response: a status, a connection that closes before it, or one that
 * closes in its middle. Null passes the response on. `only: 'metrics'` spares `/brands` and `/changes`.
 */
export type Fault =
  | null
  | 'dropped'
  | 'cut'
  | {
      readonly status: number
      readonly error?: string
      /** Seconds. */
      readonly retryAfter?: number
      readonly only?: 'metrics'
    }

/** What one run sent. */
export type Traffic = { requests: number; readonly agents: Set<string>; readonly early: string[] }

const SPARED = ['brands', 'changes', 'openapi.json'].map((path) => `${BASE}/${path}`)

/** A timer may fire this much before its time. */
const TOLERANCE_MS = 50

/** Starts a proxy in front of the service that meets requests with faults, in the order in which they arrive. */
export async function startProxy(service: string) {
  let faults: Fault[] = []
  let traffic: Traffic = { requests: 0, agents: new Set(), early: [] }
  /** When a request may be sent again. */
  const notBefore = new Map<string, number>()

  const server = createServer(async ({ url: target = '', method, headers }, response) => {
    const { pathname } = new URL(target, service)
    traffic.requests += 1
    traffic.agents.add(headers['user-agent'] ?? '')
    const remaining = (notBefore.get(target) ?? 0) - performance.now()
    if (remaining > TOLERANCE_MS) traffic.early.push(`${pathname}, ${(remaining / 1000).toFixed(1)} s early`)

    const fault = faults.shift() ?? null
    if (fault === 'dropped') return void response.destroy()
    if (fault !== null && fault !== 'cut' && !(fault.only && SPARED.includes(pathname))) {
      const { status, error = 'Later.', retryAfter } = fault
      if (retryAfter !== undefined) notBefore.set(target, performance.now() + retryAfter * 1000)
      const wait = retryAfter !== undefined && { 'Retry-After': String(retryAfter) }
      response.writeHead(status, { 'Content-Type': 'application/json', ...wait })
      return void response.end(JSON.stringify({ error }))
    }
    // A rate budget of its own for each request, and a connection that no earlier one has used.
    const own = { 'user-agent': randomUUID(), connection: 'close' }
    request(new URL(target, service), { method, headers: { ...headers, ...own } }, async (answer) => {
      const { 'transfer-encoding': _, connection: __, ...rest } = answer.headers
      // The service is closed when a client that was killed leaves a request behind.
      const body = await buffer(answer).catch(() => undefined)
      if (body === undefined) return void response.destroy()
      const length = method !== 'HEAD' && { 'content-length': body.length }
      response.writeHead(answer.statusCode ?? 502, { ...rest, ...length })
      if (fault === 'cut') response.write(body.subarray(0, body.length / 2), () => response.destroy())
      else response.end(body)
    })
      .on('error', () => response.destroy())
      .end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    /** Prepares for a run. Returns what that run sends, as it is counted. */
    begin: (meets: readonly Fault[] = []): Traffic => {
      faults = [...meets]
      notBefore.clear()
      traffic = { requests: 0, agents: new Set(), early: [] }
      return traffic
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
