import { once } from 'node:events'
import { createServer } from 'node:net'

/** Rejects with Node's error when an address cannot be listened on; the runtime's own would come late and unclear. */
export async function assertFree(host: string, port: number): Promise<void> {
  const server = createServer().listen({ host, port, exclusive: true })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
