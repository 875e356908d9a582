import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { portOf } from '../../emulator/port.ts'

/** What the proxy does to a request instead of passing on the service's response; a function runs before that. */
export type Fault = 'dropped' | 'cut' | 429 | 503 | (() => Promise<unknown>)

/** A proxy in front of the service. */
export type Faltering = {
  readonly url: string
  /** The `User-Agent` of each request, by path and query. */
  readonly asked: Map<string, (string | undefined)[]>
  readonly close: () => Promise<void>
}

/** Starts a proxy. `faults` are those of the first page, of the second one, and so on: each page has its faults first. */
export async function startFaltering(service: string, faults: readonly Fault[][] = []): Promise<Faltering> {
  const asked = new Map<string, (string | undefined)[]>()
  const server = createServer(async ({ url: target = '', headers }, response) => {
    const agents = asked.get(target) ?? []
    asked.set(target, agents)
    agents.push(headers['user-agent'])
    const fault = faults[[...asked.keys()].indexOf(target)]?.[agents.length - 1]
    if (typeof fault === 'number') {
      // The service always says when to retry. A proxy in front of it may not.
      const retry = fault === 429 && { 'Retry-After': '1' }
      response.writeHead(fault, { ...retry, 'Content-Type': 'application/json' })
      response.end('{"error":"Later."}')
      return
    }
    if (typeof fault === 'function') await fault()
    if (fault === 'dropped') return void response.destroy()
    // A rate budget of its own for each request.
    const answer = await fetch(service + target, {
      headers: { 'X-API-Key': String(headers['x-api-key']), 'User-Agent': randomUUID() },
    })
    const body = await answer.text()
    response.writeHead(answer.status, { 'Content-Type': 'application/json' })
    if (fault === 'cut') response.write(body.slice(0, body.length / 2), () => response.destroy())
    else response.end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    asked,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
