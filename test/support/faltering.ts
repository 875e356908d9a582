import { once } from 'node:events'
import { createServer } from 'node:http'
import { portOf } from '../../emulator/port.ts'

/** A proxy that rejects the first of each request. */
export type Faltering = {
  readonly url: string
  /** Number of requests by path and query. */
  readonly asked: Map<string, number>
  readonly close: () => Promise<void>
}

/** Starts the proxy: a first request gets 429 or 503 with `Retry-After: 1`, its repetition the service's response. */
export async function startFaltering(service: string): Promise<Faltering> {
  const asked = new Map<string, number>()
  const server = createServer(async ({ url: target = '', headers }, response) => {
    const times = (asked.get(target) ?? 0) + 1
    asked.set(target, times)
    if (times === 1) {
      response.writeHead(asked.size % 2 === 0 ? 503 : 429, {
        'Retry-After': '1',
        'Content-Type': 'application/json',
      })
      response.end('{"error":"Later."}')
      return
    }
    const answer = await fetch(service + target, {
      headers: { 'X-API-Key': String(headers['x-api-key']), 'User-Agent': target },
    })
    response.writeHead(answer.status, { 'Content-Type': 'application/json' })
    response.end(await answer.text())
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
