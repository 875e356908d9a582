import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../drizzle/db/connect.ts'
import { deployRelease, stepsOf } from './deploy/release.ts'
import { readSettings } from './deploy/settings.ts'
import { loadDevVars } from './dev-vars.ts'
import { createCommand } from './local/command.ts'
import { run } from './run.ts'
import { bundle } from './workers/bundle.ts'
import { readWranglerFile, withBucket, withPrefix } from './workers/wrangler-config.ts'

/** What wrangler needs. */
const NODE = 22

const { dryRun } = createCommand('deploy', {
  description: 'Migrates the database, deploys every Worker and runs the smoke test.',
  variables: { '.dev.vars': 'the file with the settings; .dev.vars.example lists them' },
})
  .option('--dry-run', 'print the steps and the missing settings; change nothing')
  .parse()
  .opts<{ dryRun?: boolean }>()

await run(async () => {
  const { node } = process.versions
  if (Number.parseInt(node, 10) < NODE) {
    throw new UsageError(
      `npm run deploy needs Node ${NODE}.0 or later, and this is Node ${node}. Install a newer Node and try again.`,
    )
  }
  loadDevVars()
  const { settings, errors } = readSettings(process.env)
  const file = withPrefix(withBucket(await readWranglerFile(), settings.SHARE_BUCKET), settings.NAME_PREFIX)
  const release = { file, settings, commit: currentCommit() }
  if (dryRun) console.log(stepsOf(release).join('\n'))
  if (errors.length > 0) {
    throw new UsageError(
      [...errors, 'Write the settings into .dev.vars, as .dev.vars.example shows, or set variables.'].join(
        '\n',
      ),
    )
  }
  if (dryRun) return
  await bundle()
  await deployRelease(release, { url: settings.API_URL, key: process.env.EXPORT_API_KEY || undefined })
})

/** The commit of this checkout, with "-dirty" when it has uncommitted changes. Throws `UsageError` when git has none. */
function currentCommit(): string {
  const args = ['describe', '--always', '--dirty', '--exclude=*']
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  try {
    return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    throw new UsageError('git does not name the commit of this folder. Deploy from a clone.')
  }
}
