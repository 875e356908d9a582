import { setTimeout as delay } from 'node:timers/promises'
import { reasonOf, UsageError, withClient } from '../drizzle/db/connect.ts'
import { assertFree } from './port.ts'
import type { Settings } from './settings.ts'
import { connectRedis } from './upstash/redis.ts'

/** How long a server may take to be connected to, in milliseconds. */
const PATIENCE_MS = 3_000

/** Throws a UsageError when an address is taken or a server that was named cannot be used, before anything is started. */
export async function checkServers({ host, port, databaseUrl, redisUrl }: Settings): Promise<void> {
  await assertFree(host, port).catch((error) => {
    throw new UsageError(
      codeOf(error) === 'EADDRINUSE'
        ? `Port ${port} of ${host} is taken: PORT=${port + 1} npm start takes another.`
        : `HOST ${host} and PORT ${port} cannot be listened on: ${reasonOf(error)}.`,
    )
  })
  if (databaseUrl !== undefined) await withClient(databaseUrl, async () => undefined)
  if (redisUrl !== undefined) await checkRedis(redisUrl)
}

async function checkRedis(url: string): Promise<void> {
  const late = delay(PATIENCE_MS, undefined, { ref: false }).then(() =>
    Promise.reject(new Error('no answer')),
  )
  await Promise.race([connectRedis(url), late]).then(
    (redis) => redis.close(),
    (error) => {
      throw new UsageError(`REDIS_URL cannot be used: ${reasonOf(error)}.`)
    },
  )
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
