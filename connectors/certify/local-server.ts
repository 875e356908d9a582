import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { portOf } from '../../cli/local/port.ts'

/** Starts a server on this machine. Closing it breaks its connections. */
export async function startLocalServer(respond: RequestListener) {
  const server = createServer(respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
