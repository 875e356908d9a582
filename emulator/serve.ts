import { parseArgs } from 'node:util'
import { bundle } from '../bundle/bundle.ts'
import { migrateToLatest } from '../bundle/migrate-to-latest.ts'
import { reasonOf, UsageError, withClient } from '../drizzle/db/connect.ts'
import { banner } from './banner.ts'
import { type Demo, type EmbeddedDemo, openDemo } from './demo.ts'
import { checkServers } from './servers.ts'
import { readSettings } from './settings.ts'
import type { Emulator } from './start.ts'
import { R2_FOLDER } from './state.ts'

/** Serves the database of `DATABASE_URL` or the demo in `embedded`, and ends the process when that fails. */
export async function serve(embedded: EmbeddedDemo | undefined): Promise<void> {
  try {
    await start(embedded)
  } catch (error) {
    console.error(error instanceof UsageError ? error.message : error)
    process.exit(1)
  }
}

async function start(embedded: EmbeddedDemo | undefined): Promise<void> {
  const { watch, fresh } = readOptions()
  const settings = readSettings(process.env)
  if (fresh && settings.databaseUrl !== undefined) {
    throw new UsageError('--fresh deletes the demo data, and DATABASE_URL names another database.')
  }
  await checkServers(settings)
  const parts = [
    embedded && openDemo(embedded),
    // miniflare is slow to import, so it loads while the database starts.
    import('./start.ts'),
    bundle(),
  ] as const
  // esbuild prints its stack when the process exits while it builds.
  await Promise.allSettled(parts)
  const [demo, { startEmulator }] = await Promise.all(parts)
  if (settings.databaseUrl !== undefined) await withClient(settings.databaseUrl, migrateToLatest)
  const loading = demo?.loadNewest() ?? 0
  if (!demo?.isLoaded) await loading
  const databaseUrl = settings.databaseUrl ?? demo?.databaseUrl
  const r2Folder = demo?.isKept === false ? undefined : R2_FOLDER
  const [emulator, missing] = await Promise.all([
    startEmulator({ ...settings, databaseUrl, r2Folder, bundle: false, onLog: console.log }),
    loading,
  ])
  banner(emulator, demo)
  if (demo !== undefined) void completeDemo(demo, emulator, missing)
  if (watch) {
    const { reloadOnChange } = await import('./dev.ts')
    await reloadOnChange(emulator)
  }
}

function readOptions() {
  try {
    const { values } = parseArgs({ options: { watch: { type: 'boolean' }, fresh: { type: 'boolean' } } })
    return { watch: values.watch === true, fresh: values.fresh === true }
  } catch (error) {
    throw new UsageError(reasonOf(error))
  }
}

/** Publishes the demo to its bucket and loads its older days, while the service runs. */
async function completeDemo(demo: Demo, emulator: Emulator, missing: number): Promise<void> {
  await publish(emulator)
  if (missing === 0) return
  console.log(`\nThe newest days are loaded. ${missing} older days follow while the service runs.`)
  try {
    await demo.loadOlder()
    console.log('All days are loaded.')
  } catch (error) {
    console.error(`The older days were not all loaded: ${reasonOf(error)}. The next start loads them.`)
  }
  await publish(emulator)
}

const publish = (emulator: Emulator): Promise<void> =>
  emulator.runCron('publish').catch((error) => {
    console.error(`The demo was not published: ${reasonOf(error)}. The next run follows in five minutes.`)
  })
