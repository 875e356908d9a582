import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { ACTIVATE, LOADED, makeSwitchable } from './workers.ts'

/** A Worker in an endless loop does not answer. */
const TIMEOUT_MS = 5000

/** Starts the service over the mutants of Stryker's sandbox, once for many mutants. */
export async function startMutants(sandbox: string) {
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

  const start = () => startEmulator({ host: '127.0.0.1', port: 0, crons: false, bundle: false })
  let emulator = await start()
  /** Installs the prepared statements of a mutant, as a deployment does. */
  const migrate = async (mutant: string): Promise<void> => {
    const env = { ...process.env, DATABASE_URL: emulator.databaseUrl, __STRYKER_ACTIVE_MUTANT__: mutant }
    const child = spawn(process.execPath, ['cli/migrate.ts'], { cwd: sandbox, env, stdio: 'ignore' })
    // When PostgreSQL rejects a mutant's statement, the tests fail.
    await once(child, 'close')
  }
  await migrate('')
  const send = async (path: string, headers: Record<string, string> = {}): Promise<Headers> => {
    const response = await fetch(emulator.url + path, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
    await response.arrayBuffer()
    return response.headers
  }
  // Mutants that change what a Worker computes when it is loaded, prepared statements among it.
  const loaded = new Set<string>()
  for (const path of paths) {
    for (const id of (await send(path)).get(LOADED)?.match(/\d+/g) ?? []) loaded.add(id)
  }
  return {
    provided: () => ({
      serviceUrl: emulator.url,
      databaseUrl: emulator.databaseUrl,
      redisUrl: '',
      realPostgres: false,
    }),
    /** Activates a mutant in running Workers and in those that start later. */
    activate: async (mutant: string): Promise<void> => {
      await write(mutant)
      await Promise.all(paths.map((path) => send(path, { [ACTIVATE]: mutant }))).catch(async () => {
        await Promise.race([emulator.close(), delay(TIMEOUT_MS)])
        emulator = await start()
        await migrate('')
      })
      if (loaded.has(mutant)) await migrate(mutant)
    },
    close: () => emulator.close(),
  }
}
