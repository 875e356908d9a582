import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { reasonOf, UsageError, withClient } from '../drizzle/db/connect.ts'
import type { Settings } from './settings.ts'
import { connectRedis } from './upstash/redis.ts'

const CONNECT_TIMEOUT_MS = 3_000

type Address = Pick<Settings, 'host' | 'port'>

/** Throws `UsageError` when the port is in use or a configured server cannot be reached. Starts nothing. */
export async function checkServers(settings: Settings): Promise<void> {
  const { host, port, inspectorPort, databaseUrl, redisUrl } = settings
  await checkPort({ host, port })
  // miniflare would wait for it forever.
  if (inspectorPort !== undefined)
    await checkPort({ host: '127.0.0.1', port: inspectorPort }, 'INSPECTOR_PORT')
  if (databaseUrl !== undefined) await withClient(databaseUrl, async () => undefined)
  if (redisUrl !== undefined) await checkRedis(redisUrl)
}

/** miniflare reports a port in use only after everything else has started. */
async function checkPort(address: Address, variable = 'PORT'): Promise<void> {
  const server = createServer().listen({ ...address, exclusive: true })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw explainListenError(error, address, variable)
  }
  server.close()
  await once(server, 'close')
}

/** Returns a `UsageError` about the error of a listener. miniflare has a code of its own. */
function explainListenError(error: unknown, { host, port }: Address, variable = 'PORT'): UsageError {
  return new UsageError(
    isInUse(error)
      ? `Port ${port} on ${host} is in use. End the process that lsof -i :${port} names, or choose another port: ${variable}=${port + 1} npm start`
      : `Cannot listen on HOST ${host} and ${variable} ${port}: ${reasonOf(error)}.`,
  )
}

const isInUse = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(EADDRINUSE|ERR_ADDRESS_IN_USE)$/.test(String(error.code))

/** Rejects with `UsageError` when another process has taken the port since it was checked. */
export const explainTakenPort = <Started>(start: Promise<Started>, settings: Settings): Promise<Started> =>
  start.catch((error) => {
    throw isInUse(error) ? explainListenError(error, settings) : error
  })

async function checkRedis(url: string): Promise<void> {
  const timeout = delay(CONNECT_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error('no answer')
  })
  try {
    const redis = await Promise.race([connectRedis(url), timeout])
    redis.close()
  } catch (error) {
    throw new UsageError(`Cannot connect to REDIS_URL: ${reasonOf(error)}.`)
  }
}
