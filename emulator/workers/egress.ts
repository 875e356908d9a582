import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { arrayBuffer } from 'node:stream/consumers'

const HOST = '127.0.0.1'

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
  server.listen({ host: HOST, port: 0 })
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The egress server has no port')
  return {
    service: {
      external: {
        address: `${HOST}:${address.port}`,
        http: { injectRequestHeaders: [{ name: TOKEN_HEADER, value }] },
      },
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
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
