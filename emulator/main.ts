import { migrateToLatest } from '../bundle/migrate-to-latest.ts'
import { UsageError, withClient } from '../drizzle/db/connect.ts'
import { banner } from './banner.ts'
import { startDemo } from './demo.ts'
import { checkServers } from './servers.ts'
import { readSettings } from './settings.ts'
import { shutdownOnSignals } from './shutdown.ts'

shutdownOnSignals()
try {
  const settings = readSettings(process.env)
  await checkServers(settings)
  const demo = settings.databaseUrl === undefined
  const [databaseUrl, { startEmulator }] = await Promise.all([
    settings.databaseUrl ?? startDemo(),
    // The runtime is slow to load; this way it loads while the database starts.
    import('./start.ts'),
  ])
  if (!demo) await withClient(databaseUrl, migrateToLatest)
  banner(await startEmulator({ ...settings, databaseUrl, onLog: console.log }), demo)
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error)
  process.exit(1)
}
