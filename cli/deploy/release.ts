import { UsageError, withClient } from '../../drizzle/db/connect.ts'
import { activateRowSchemas } from '../../drizzle/db/row-schemas.ts'
import type { Service } from '../smoke/client.ts'
import { runSmoke, waitFor } from '../smoke/smoke.ts'
import { migrateSchema } from '../workers/migrate-to-latest.ts'
import { hostOf, regionOf } from './settings.ts'
import { deployWorkers, inOrder, nameOf, type Release, triggerOf } from './workers.ts'

/** A route can take this long to reach every data center. */
const PROPAGATION_SECONDS = 60

const DATABASES = ['DATABASE_URL', 'REFRESH_DATABASE_URL'] as const

/**
 * Migrates the database, which the live Workers tolerate, then deploys the Workers, activates other fields of rows, and
 * tests the service. Stops at the first failure.
 */
export async function deployRelease(release: Release, service: Service, program?: string): Promise<void> {
  const { settings } = release
  await withClient(settings.MIGRATE_DATABASE_URL, (client) => migrateSchema(client), 'MIGRATE_DATABASE_URL')
  console.log('The database has the current schema.')
  for (const variable of DATABASES) {
    await withClient(settings[variable], (client) => client.query('select 1'), variable)
  }
  await deployWorkers(release, program)
  console.log(`Commit ${release.commit} is live. Testing ${service.url}:`)
  await waitFor(service, PROPAGATION_SECONDS)
  // Clients fetch the listed days: earlier, they would receive the fields of the previous Workers.
  await withClient(settings.MIGRATE_DATABASE_URL, activateRowSchemas, 'MIGRATE_DATABASE_URL')
  await runSmoke(service).catch((error: Error) => {
    throw new UsageError(
      `${error.message}\nThe new version is live. To roll back, deploy the previous commit.`,
    )
  })
}

/** The steps of {@link deployRelease}, a line each. */
export function stepsOf({ file, settings, commit }: Release): string[] {
  const host = hostOf(settings.API_URL) || '(API_URL)'
  const steps = [
    [
      `commit ${commit}`,
      `placed in ${regionOf(settings.DATABASE_URL) ?? 'the region that Cloudflare chooses'}`,
    ],
    ['migrate', hostOf(settings.MIGRATE_DATABASE_URL) || '(MIGRATE_DATABASE_URL)'],
    ['check logins', DATABASES.join(', ')],
    ...inOrder(file).map((worker) => [`deploy ${nameOf(file, worker)}`, triggerOf(worker, host)]),
    ['activate new fields', hostOf(settings.MIGRATE_DATABASE_URL) || '(MIGRATE_DATABASE_URL)'],
    ['smoke', settings.API_URL || '(API_URL)'],
  ]
  return steps.map(([step = '', target = '']) => `${step.padEnd(36)} ${target}`)
}
