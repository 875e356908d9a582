import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { migrateToLatest } from '../../../bundle/migrate-to-latest.ts'
import type { Emulator } from '../../../emulator/start.ts'
import { createDatabase, type OwnDatabase, withClient } from '../../../test/support/database.ts'
import { claimRedis } from '../../../test/support/redis.ts'
import { SWITCH, switchable } from './switch.ts'

/** The service over the mutants of a sandbox: one start for many mutants. */
export type MutantService = {
  readonly provided: () => {
    readonly serviceUrl: string
    readonly databaseUrl: string
    readonly redisUrl: string
  }
  /** Where each Worker that has a route is told of mutants. */
  readonly switches: () => string[]
  /** Makes a mutant the active one, in Workers that run and in those that are started from now on; '' for none. */
  readonly activate: (mutant: string) => Promise<void>
  /** Has the database hold the statements that Workers send under a mutant, as a deployment would. */
  readonly hold: (mutant: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** How long Workers may take to hear of a mutant (ms): one that is caught in a loop hears nothing any more. */
const PATIENCE_MS = 5000

/** Starts the Workers of a sandbox, mutants and all, as the tests' own setup starts those of the project. */
export async function startMutants(sandbox: string): Promise<MutantService> {
  const load = (file: string) => import(pathToFileURL(join(sandbox, file)).href)
  const { startEmulator }: typeof import('../../../emulator/start.ts') = await load('emulator/start.ts')
  const { bundle }: typeof import('../../../bundle/bundle.ts') = await load('bundle/bundle.ts')
  const { readWranglerConfig }: typeof import('../../../bundle/wrangler-config.ts') = await load(
    'emulator/wrangler-config.ts',
  )
  const server = process.env.DATABASE_URL
  const database: OwnDatabase | undefined = server ? await createDatabase(server) : undefined
  const redis = process.env.REDIS_URL ? await claimRedis(process.env.REDIS_URL) : undefined
  await bundle()
  const write = await switchable(join(sandbox, 'dist'))
  await write('')
  const paths = (await readWranglerConfig()).workers.flatMap(({ route }) => route?.replaceAll('*', '') ?? [])

  const start = () =>
    startEmulator({
      host: '127.0.0.1',
      port: 0,
      databaseUrl: database?.url,
      redisUrl: redis?.url,
      crons: false,
      bundle: false,
    })
  let emulator: Emulator = await start()
  if (!database) await withClient(emulator.databaseUrl, migrateToLatest)
  const switches = () => paths.map((path) => emulator.url + path)

  const tell = (mutant: string) =>
    Promise.all(
      switches().map(async (url) => {
        const response = await fetch(url, {
          headers: { [SWITCH]: mutant },
          signal: AbortSignal.timeout(PATIENCE_MS),
        })
        await response.arrayBuffer()
      }),
    )

  async function restart(): Promise<void> {
    await Promise.race([emulator.close(), delay(PATIENCE_MS)])
    emulator = await start()
    if (!database) await withClient(emulator.databaseUrl, migrateToLatest)
  }

  return {
    provided: () => ({
      serviceUrl: emulator.url,
      databaseUrl: emulator.databaseUrl,
      redisUrl: redis?.url ?? '',
    }),
    switches,
    activate: async (mutant) => {
      await write(mutant)
      await tell(mutant).catch(restart)
    },
    hold: async (mutant) => {
      const env = { ...process.env, DATABASE_URL: emulator.databaseUrl, __STRYKER_ACTIVE_MUTANT__: mutant }
      const child = spawn(process.execPath, ['cli/migrate.ts'], { cwd: sandbox, env, stdio: 'ignore' })
      // What Postgres does not take is not held, and the Workers' requests will show it.
      await once(child, 'close')
    },
    close: async () => {
      await emulator.close()
      await database?.drop()
      await redis?.release()
    },
  }
}
