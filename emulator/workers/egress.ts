import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type Answer, relay } from './egress-server.ts'

const HOST = '127.0.0.1'

/** The header by which the runtime shows that a request is its own: nobody else on this machine is answered. */
const PASS = 'emulator-pass'

/** Where the runtime sends what Workers send, without a Worker of miniflare's own in between. */
export interface Egress {
  /** As miniflare takes it for a Worker's `outboundService`. */
  service: {
    external: { address: string; http: { injectRequestHeaders: { name: string; value: string }[] } }
  }
  close(): Promise<void>
}

/** Opens an address on loopback at which `answer` answers the requests of this runtime. */
export async function startEgress(answer: Answer): Promise<Egress> {
  const value = randomUUID()
  const server = createServer((incoming, outgoing) => {
    if (incoming.headers[PASS] === value) void relay(incoming, outgoing, answer)
    else outgoing.writeHead(403).end()
  })
  // The runtime keeps its connections; one that is closed just when it is used again would look like a fault.
  server.keepAliveTimeout = 0
  server.listen({ host: HOST, port: 0 })
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The outlet has no port')
  return {
    service: {
      external: {
        address: `${HOST}:${address.port}`,
        http: { injectRequestHeaders: [{ name: PASS, value }] },
      },
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
