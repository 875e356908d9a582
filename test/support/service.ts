import type { TestProject } from 'vitest/node'
import { readNeonProxy } from '../../emulator/settings.ts'
import { type Emulator, startEmulator } from '../../emulator/start.ts'
import { createDatabase, withClient } from './database.ts'
import { claimRedis } from './redis.ts'
import { prepare } from './schema.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the service runs. */
    serviceUrl: string
    /** The Postgres behind it. */
    databaseUrl: string
    /** The Redis server behind it; empty when it is embedded. */
    redisUrl: string
    /** Whether that is a server that runs statements side by side; the embedded one runs one after the other. */
    realPostgres: boolean
  }
}

/** Starts the built Workers over SQL for the whole run: embedded, or on the servers of `DATABASE_URL` and `REDIS_URL`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const neonProxy = readNeonProxy(process.env)
  const server = process.env.DATABASE_URL
  const database = server ? await createDatabase(server) : undefined
  const redis = process.env.REDIS_URL ? await claimRedis(process.env.REDIS_URL) : undefined
  const emulator: Emulator = await startEmulator({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: database?.url,
    redisUrl: redis?.url,
    neonProxy,
    crons: false,
  })
  if (!database) await withClient(emulator.databaseUrl, prepare)
  project.provide('serviceUrl', emulator.url)
  project.provide('databaseUrl', emulator.databaseUrl)
  project.provide('redisUrl', redis?.url ?? '')
  project.provide('realPostgres', database !== undefined)
  return async () => {
    await emulator.close()
    await database?.drop()
    await redis?.release()
  }
}
