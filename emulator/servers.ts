import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { assertFree } from './port.ts'
import { connectRedis } from './redis.ts'
import { Mistake, type Settings } from './settings.ts'

/** How long a server may take to be connected to, in milliseconds. */
const PATIENCE_MS = 3_000

/** Throws a Mistake when an address is taken or a server that was named cannot be used, before anything is started. */
export async function checkServers({ host, port, databaseUrl, redisUrl }: Settings): Promise<void> {
  await assertFree(host, port).catch((error) => {
    throw new Mistake(
      codeOf(error) === 'EADDRINUSE'
        ? `Port ${port} of ${host} is taken: PORT=${port + 1} npm start takes another.`
        : `HOST ${host} and PORT ${port} cannot be listened on: ${reasonOf(error)}.`,
    )
  })
  if (databaseUrl !== undefined) await withClient(databaseUrl, async () => undefined)
  if (redisUrl !== undefined) await checkRedis(redisUrl)
}

/** Gives `use` a connection of its own to DATABASE_URL; throws a Mistake when there is none to be had. */
export async function withClient(url: string, use: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS })
  client.on('error', () => undefined)
  await client.connect().catch((error) => {
    throw new Mistake(`DATABASE_URL cannot be used: ${reasonOf(error)}.`)
  })
  try {
    await use(client)
  } finally {
    await client.end()
  }
}

async function checkRedis(url: string): Promise<void> {
  const late = delay(PATIENCE_MS, undefined, { ref: false }).then(() =>
    Promise.reject(new Error('no answer')),
  )
  await Promise.race([connectRedis(url), late]).then(
    (redis) => redis.close(),
    (error) => {
      throw new Mistake(`REDIS_URL cannot be used: ${reasonOf(error)}.`)
    },
  )
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** Several addresses that refuse make an error without a message: the first of them speaks for all. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return (error instanceof Error ? error.message : String(error)).replace(/\.+$/, '')
}
