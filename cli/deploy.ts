import { Command } from 'commander'
import { bundle } from '../bundle/bundle.ts'
import { readWranglerFile } from '../bundle/wrangler-config.ts'
import { UsageError } from '../drizzle/db/connect.ts'
import { missingAccount } from './deploy/account.ts'
import { deployRelease, stepsOf } from './deploy/release.ts'
import { releaseName } from './deploy/release-name.ts'
import { readSettings } from './deploy/settings.ts'
import { loadDevVars } from './dev-vars.ts'
import { run } from './run.ts'

const { dryRun } = new Command('deploy')
  .description('Brings the database and then every Worker to this release, and tries the service.')
  .option('--dry-run', 'say what would be done and what is missing, and do nothing')
  .parse()
  .opts<{ dryRun?: boolean }>()

await run(async () => {
  loadDevVars()
  const { settings, wrong } = readSettings(process.env)
  const release = { name: releaseName(), file: await readWranglerFile(), settings }
  if (dryRun) console.log(stepsOf(release).join('\n'))
  const missing = [...wrong, ...(await missingAccount(process.env))]
  if (missing.length > 0) throw new UsageError(missing.join('\n'))
  if (dryRun) return
  await bundle()
  await deployRelease(release, { url: settings.API_URL, key: process.env.EXPORT_API_KEY || undefined })
})
