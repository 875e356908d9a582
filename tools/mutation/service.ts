import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { ProvidedContext } from 'vitest'
import { ACTIVATE, makeSwitchable } from './workers.ts'

/** The service over the mutants of Stryker's sandbox. It starts once for many mutants. */
export type MutantService = {
  readonly provided: () => Omit<ProvidedContext, 'mutant'>
  /** Activates a mutant in running Workers and in those that start later. An empty id activates none. */
  readonly activate: (mutant: string) => Promise<void>
  /** Installs the prepared statements of a mutant, as a deployment does. */
  readonly migrate: (mutant: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** A Worker in an endless loop does not answer. */
const TIMEOUT_MS = 5000

export async function startMutants(sandbox: string): Promise<MutantService> {
  const load = (file: string) => import(pathToFileURL(join(sandbox, file)).href)
  const { startEmulator }: typeof import('../../emulator/start.ts') = await load('emulator/start.ts')
  const { bundle }: typeof import('../../bundle/bundle.ts') = await load('bundle/bundle.ts')
  const { readWranglerConfig }: typeof import('../../bundle/wrangler-config.ts') =
    await load('bundle/wrangler-config.ts')
  await bundle()
  const write = await makeSwitchable(join(sandbox, 'dist'))
  await write('')
  const { workers } = await readWranglerConfig()
  const paths = workers.flatMap(({ route }) => route?.replaceAll('*', '') ?? [])

  const migrate = async (mutant: string): Promise<void> => {
    const env = { ...process.env, DATABASE_URL: emulator.databaseUrl, __STRYKER_ACTIVE_MUTANT__: mutant }
    const child = spawn(process.execPath, ['cli/migrate.ts'], { cwd: sandbox, env, stdio: 'ignore' })
    // When PostgreSQL rejects a mutant's statement, the tests fail.
    await once(child, 'close')
  }
  const start = () => startEmulator({ host: '127.0.0.1', port: 0, crons: false, bundle: false })
  let emulator = await start()
  await migrate('')

  const restart = async (): Promise<void> => {
    await Promise.race([emulator.close(), delay(TIMEOUT_MS)])
    emulator = await start()
    await migrate('')
  }
  const send = async (path: string, mutant: string): Promise<void> => {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(emulator.url + path, { headers: { [ACTIVATE]: mutant }, signal })
    await response.arrayBuffer()
  }
  return {
    provided: () => ({
      serviceUrl: emulator.url,
      databaseUrl: emulator.databaseUrl,
      redisUrl: '',
      realPostgres: false,
    }),
    activate: async (mutant) => {
      await write(mutant)
      await Promise.all(paths.map((path) => send(path, mutant))).catch(restart)
    },
    migrate,
    close: () => emulator.close(),
  }
}
