import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { portOf } from '../../cli/local/port.ts'

/** What happens to a server's connections. */
export type NetworkFault = 'fine' | 'slow' | 'refuses' | 'stalls' | 'cuts' | 'corrupts'

/** A proxy in front of a server, with faults. */
export type FaultyServer = {
  /** The server's URL, with the proxy's address in it. */
  readonly url: string
  /** Sets the fault of all connections, open ones included. */
  readonly turn: (fault: NetworkFault) => void
  readonly close: () => Promise<void>
}

const PIECES = 8

/** Puts a proxy before the server of a URL. */
export async function startTcpProxy(serverUrl: string, defaultPort: number): Promise<FaultyServer> {
  const { hostname, port } = new URL(serverUrl)
  const open = new Set<Socket>()
  let fault: NetworkFault = 'fine'
  let turned = Promise.withResolvers<void>()

  /** Passes bytes of the server on, with the current fault. */
  async function say(client: Socket, bytes: Buffer): Promise<void> {
    while (fault === 'stalls') await turned.promise
    if (fault === 'corrupts') client.write(Buffer.from(bytes.toReversed().map((byte) => byte ^ 0x55)))
    else if (fault === 'cuts') {
      client.write(bytes.subarray(0, bytes.length / 2), () => client.resetAndDestroy())
    } else if (fault === 'slow') {
      const size = Math.ceil(bytes.length / PIECES)
      for (let from = 0; from < bytes.length; from += size) {
        client.write(bytes.subarray(from, from + size))
        await delay(5)
      }
    } else client.write(bytes)
  }

  const server = createServer((client) => {
    const upstream = connect(Number(port || defaultPort), hostname)
    let said = Promise.resolve()
    upstream.on('data', (bytes) => {
      said = said.then(() => say(client, bytes))
    })
    client.on('data', (bytes) => upstream.write(bytes))
    upstream.on('close', () => void said.then(() => client.destroy()))
    client.on('close', () => upstream.destroy())
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.setNoDelay()
      socket.on('error', () => socket.destroy())
      socket.on('close', () => open.delete(socket))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String(portOf(server))
  const refuse = () => {
    server.close()
    for (const socket of open) socket.resetAndDestroy()
  }
  return {
    url: url.href,
    turn: (next) => {
      if (next === 'refuses' && fault !== 'refuses') refuse()
      if (next !== 'refuses' && fault === 'refuses') server.listen(Number(url.port), '127.0.0.1')
      fault = next
      turned.resolve()
      turned = Promise.withResolvers()
    },
    close: async () => {
      for (const socket of open) socket.destroy()
      if (!server.listening) return
      server.close()
      await once(server, 'close')
    },
  }
}
