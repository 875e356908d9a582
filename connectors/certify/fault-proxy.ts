import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type RequestListener, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { startLocalServer } from './local-server.ts'

/**
 * What a client receives instead of the service's response: a connection that closes before it, one that closes in its
 * middle, a status, another body, or what a function sends. `retryAfter` are seconds.
 */
export type ProxyFault =
  | 'dropped'
  | 'cut'
  | { readonly status: number; readonly error?: string; readonly retryAfter?: number | undefined }
  | RequestListener
  | { readonly rewrite: (body: string, status: number | undefined) => Promise<string> }

/** Starts a proxy in front of a service. `meet` receives each request, and returns its fault, if any. */
export function startFaultProxy(
  service: string,
  meet: (request: IncomingMessage) => Promise<ProxyFault | null> | ProxyFault | null,
) {
  return startLocalServer(async (asked, response) => {
    const fault = await meet(asked)
    if (fault === 'dropped') return void response.destroy()
    if (typeof fault === 'function') return fault(asked, response)
    if (typeof fault === 'object' && fault !== null && 'status' in fault) {
      const { status, error = 'Later.', retryAfter } = fault
      const wait = retryAfter !== undefined && { 'Retry-After': String(retryAfter) }
      response.writeHead(status, { 'Content-Type': 'application/json', ...wait })
      return void response.end(JSON.stringify({ error }))
    }
    const rewrite = typeof fault === 'object' ? fault?.rewrite : undefined
    const { url: target = '', method, headers } = asked
    // A rate budget of its own for each request of the service, and a connection that no earlier one has used.
    const own = {
      ...('x-api-key' in headers && { authorization: randomUUID() }),
      connection: 'close',
      ...(rewrite && { 'accept-encoding': 'identity' }),
    }
    const sent = request(
      new URL(target, service),
      { method, headers: { ...headers, ...own } },
      async (answer) => {
        const { 'transfer-encoding': _, connection: __, ...rest } = answer.headers
        // The service is closed when a client that was killed leaves a request behind.
        const genuine = await buffer(answer).catch(() => undefined)
        if (genuine === undefined) return void response.destroy()
        const body = rewrite ? Buffer.from(await rewrite(genuine.toString(), answer.statusCode)) : genuine
        const length = method !== 'HEAD' && { 'content-length': body.length }
        response.writeHead(answer.statusCode ?? 502, { ...rest, ...length })
        if (fault === 'cut') response.write(body.subarray(0, body.length / 2), () => response.destroy())
        else response.end(body)
      },
    )
    asked.pipe(sent.on('error', () => response.destroy()))
  })
}
