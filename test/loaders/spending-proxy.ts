import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { portOf } from '../../emulator/port.ts'
import { call, FRESH } from '../support/call.ts'

/** A proxy through which a client meets 429. */
export type SpendingProxy = {
  readonly url: string
  /** The statuses of the service's responses. */
  readonly statuses: readonly number[]
  readonly close: () => void
}

/**
 * Starts a proxy that passes requests on, from a client address of its own. Until a response is 429, it spends the rest
 * of the client's budget before each request. A client meets 429 at any speed.
 */
export async function startSpendingProxy(service: string, address: string): Promise<SpendingProxy> {
  const statuses: number[] = []
  const server = createServer(async ({ url: target = '', headers }, response) => {
    const client = { 'CF-Connecting-IP': address, 'User-Agent': headers['user-agent'] ?? '', ...FRESH }
    if (!statuses.includes(429)) await spendBudget(service, client)
    request(new URL(target, service), { headers: { ...headers, ...client } }, (answer) => {
      const { statusCode = 0 } = answer
      statuses.push(statusCode)
      response.writeHead(statusCode, answer.headers)
      answer.pipe(response)
    })
      .on('error', () => response.destroy())
      .end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    statuses,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function spendBudget(service: string, headers: Readonly<Record<string, string>>): Promise<void> {
  while ((await call('/openapi.json', { service, headers, method: 'HEAD' })).status !== 429);
}
