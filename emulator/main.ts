import { migrateToLatest } from '../bundle/migrate-to-latest.ts'
import { UsageError, withClient } from '../drizzle/db/connect.ts'
import { banner } from './banner.ts'
import { startDemo } from './demo.ts'
import { checkServers } from './servers.ts'
import { readSettings } from './settings.ts'
import { shutdownOnSignals } from './shutdown.ts'

// npm start. With --watch it is npm run dev.
shutdownOnSignals()
try {
  const settings = readSettings(process.env)
  await checkServers(settings)
  const demo = settings.databaseUrl === undefined
  const [databaseUrl, { startEmulator }] = await Promise.all([
    settings.databaseUrl ?? startDemo(),
    // miniflare is slow to import, so it loads while the database starts.
    import('./start.ts'),
  ])
  if (!demo) await withClient(databaseUrl, migrateToLatest)
  const emulator = await startEmulator({ ...settings, databaseUrl, onLog: console.log })
  banner(emulator, demo)
  if (process.argv.includes('--watch')) {
    const { reloadOnChange } = await import('./dev.ts')
    await reloadOnChange(emulator)
  }
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error)
  process.exit(1)
}
