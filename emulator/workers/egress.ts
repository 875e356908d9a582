import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createListener, type Server } from 'node:net'
import { arrayBuffer } from 'node:stream/consumers'
import { portOf } from '../../cli/local/port.ts'

const HOST = '127.0.0.1'

/**
 * Listeners that share one port, on Linux from Node 23 on. There, each accepts one connection in a turn of the event loop:
 * with a single one, the last connections of a burst wait for seconds.
 */
const LISTENERS = process.platform === 'linux' && Number.parseInt(process.versions.node, 10) > 22 ? 32 : 1

/** workerd adds this header to its requests. Other processes on this machine do not know its value. */
const TOKEN_HEADER = 'emulator-token'

/** Answers a request; its signal aborts when the Worker no longer waits for the response. */
export type Handler = (request: Request) => Promise<Response>

/** Where workerd sends every subrequest of a Worker. */
export interface Egress {
  /** As miniflare takes it for a Worker's `outboundService`. */
  service: {
    external: { address: string; http: { injectRequestHeaders: { name: string; value: string }[] } }
  }
  close(): Promise<void>
}

/** Listens on a free loopback port and passes the requests of this workerd to `handler`. */
export async function startEgress(handler: Handler): Promise<Egress> {
  const value = randomUUID()
  const server = createServer((incoming, outgoing) => {
    if (incoming.headers[TOKEN_HEADER] === value) void respond(incoming, outgoing, handler)
    else outgoing.writeHead(403).end()
  })
  // workerd keeps its connections. Closing an idle one just before its next use would look like a fault.
  server.keepAliveTimeout = 0
  const first = await listen(server, 0)
  const port = portOf(first)
  const others = await Promise.all(Array.from({ length: LISTENERS - 1 }, () => listen(server, port)))
  return {
    service: {
      external: {
        address: `${HOST}:${port}`,
        http: { injectRequestHeaders: [{ name: TOKEN_HEADER, value }] },
      },
    },
    close: async () => {
      const closed = [first, ...others].map((listener) => once(listener.close(), 'close'))
      server.closeAllConnections()
      await Promise.all(closed)
    },
  }
}

async function listen(server: Server, port: number): Promise<Server> {
  // The HTTP server would set this on connections that it accepts itself. Without it, a response's body can wait 40 ms
  // for workerd to acknowledge its headers.
  const listener = createListener({ noDelay: true }, (socket) => server.emit('connection', socket))
  listener.listen({ host: HOST, port, reusePort: LISTENERS > 1 })
  await once(listener, 'listening')
  return listener
}

/** Streams the handler's response. When it fails, before or after its first byte, the connection is destroyed. */
async function respond(incoming: IncomingMessage, outgoing: ServerResponse, handler: Handler): Promise<void> {
  const aborted = new AbortController()
  outgoing.on('close', () => aborted.abort())
  try {
    const { status, headers, body } = await handler(await toRequest(incoming, aborted.signal))
    outgoing.writeHead(status, [...headers].flat()).flushHeaders()
    await body?.pipeTo(toWritable(outgoing), { signal: aborted.signal })
    outgoing.end()
  } catch {
    outgoing.destroy()
  }
}

async function toRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const { method = 'GET', url = '/', headers, headersDistinct } = incoming
  return new Request(new URL(url, `https://${headers.host}`), {
    method,
    headers: Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
    body: method === 'GET' || method === 'HEAD' ? null : await arrayBuffer(incoming),
    signal,
  })
}

const toWritable = (outgoing: ServerResponse): WritableStream<Uint8Array> =>
  new WritableStream({
    write: (chunk) => new Promise((resolve) => outgoing.write(chunk, () => resolve())),
  })
