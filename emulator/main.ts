import { Mistake, withClient } from '../cli/database.ts'
import { bringToCurrent } from '../cli/schema.ts'
import { startDemo } from './demo.ts'
import { greet } from './greet.ts'
import { checkServers } from './servers.ts'
import { readSettings } from './settings.ts'
import { stopOnSignals } from './stop.ts'

stopOnSignals()
try {
  const settings = readSettings(process.env)
  await checkServers(settings)
  const demo = settings.databaseUrl === undefined
  const [databaseUrl, { startEmulator }] = await Promise.all([
    settings.databaseUrl ?? startDemo(),
    // The runtime is slow to load; this way it loads while the database starts.
    import('./start.ts'),
  ])
  if (!demo) await withClient(databaseUrl, bringToCurrent)
  greet(await startEmulator({ ...settings, databaseUrl, onLog: console.log }), demo)
} catch (error) {
  console.error(error instanceof Mistake ? error.message : error)
  process.exit(1)
}
