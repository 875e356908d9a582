import { once } from 'node:events'
import { createServer } from 'node:net'
import { reasonOf, UsageError, withClient } from '../drizzle/db/connect.ts'
import type { Settings } from './settings.ts'
import { connectRedis } from './upstash/redis.ts'

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
async function checkPort({ host, port }: Pick<Settings, 'host' | 'port'>, variable = 'PORT'): Promise<void> {
  const server = createServer().listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
  } catch (error) {
    const isInUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    throw new UsageError(
      isInUse
        ? `Port ${port} on ${host} is in use. End the process that lsof -i :${port} names, or choose another port: ${variable}=${port + 1} npm start`
        : `Cannot listen on HOST ${host} and ${variable} ${port}: ${reasonOf(error)}.`,
    )
  }
  server.close()
  await once(server, 'close')
}

async function checkRedis(url: string): Promise<void> {
  try {
    const redis = await connectRedis(url)
    redis.close()
  } catch (error) {
    throw new UsageError(`Cannot connect to REDIS_URL: ${reasonOf(error)}.`)
  }
}
