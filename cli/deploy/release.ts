import { migrateToLatest } from '../../bundle/migrate-to-latest.ts'
import type { WranglerFile } from '../../bundle/wrangler-config.ts'
import { UsageError, withClient } from '../../drizzle/db/connect.ts'
import type { Service } from '../smoke/ask.ts'
import { reportSmoke } from '../smoke/report.ts'
import { waitFor } from '../smoke/smoke.ts'
import { inOrder } from './config.ts'
import { hostOf, regionOf, type Settings } from './settings.ts'
import { deployWorkers, describeTrigger } from './workers.ts'

/** Seconds after which a service that was just deployed should be reachable everywhere. */
const SPREAD_S = 60

export type Release = {
  /** What it is called: the tag of its Workers. */
  readonly name: string
  readonly file: WranglerFile
  readonly settings: Settings
}

/**
 * Brings the database to the release, which the Workers of the one before bear, then the Workers, and tries the
 * service. What fails is a {@link UsageError}, and nothing after it is begun.
 */
export async function deployRelease({ name, file, settings }: Release, service: Service): Promise<void> {
  await withClient(settings.MIGRATE_DATABASE_URL, (client) => migrateToLatest(client), 'MIGRATE_DATABASE_URL')
  console.log('The database has the current schema.')
  for (const variable of ['DATABASE_URL', 'REFRESH_DATABASE_URL'] as const) {
    await withClient(settings[variable], (client) => client.query('select 1'), variable)
  }
  await deployWorkers({ file, site: siteOf(settings), settings, release: name })
  console.log(`Release ${name} is live. Trying ${service.url}:`)
  await waitFor(service, SPREAD_S)
  await reportSmoke(service).catch((error: Error) => {
    throw new UsageError(
      `${error.message}\nThe release is live all the same: npm run rollback takes it back.`,
    )
  })
}

/** What {@link deployRelease} does, in order; a name in brackets stands for what is not set. */
export function stepsOf({ name, file, settings }: Release): string[] {
  const { host, region } = siteOf(settings)
  const step = (what: string, about: string) => `${what.padEnd(27)} ${about}`
  return [
    step(
      `release ${name}`,
      region ? `in ${region}, by the database` : 'placed by Cloudflare (Smart Placement)',
    ),
    step('migrate', hostOf(settings.MIGRATE_DATABASE_URL) || '(MIGRATE_DATABASE_URL)'),
    step('log in as the Workers do', 'DATABASE_URL, REFRESH_DATABASE_URL'),
    ...inOrder(file).map((worker) =>
      step(`deploy ${worker.name}`, describeTrigger(worker, host || '(API_URL)')),
    ),
    step('smoke', settings.API_URL || '(API_URL)'),
  ]
}

const siteOf = ({ API_URL, CLOUDFLARE_ZONE, DATABASE_URL }: Settings) => ({
  host: hostOf(API_URL),
  zone: CLOUDFLARE_ZONE,
  region: regionOf(DATABASE_URL),
})
