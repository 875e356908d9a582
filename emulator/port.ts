import type { Server } from 'node:net'

/** Returns the port on which a server listens; throws when it does not listen on one. */
export function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return address.port
}
