import type { WorkerConfig, WranglerFile } from '../../bundle/wrangler-config.ts'
import { UsageError } from '../../drizzle/db/connect.ts'
import { inOrder, type Site, withPrivateFolder, wranglerConfig } from './config.ts'
import { type Settings, secretsFor } from './settings.ts'
import { reasonOfFailure, wrangler } from './wrangler.ts'

export type Deployment = {
  readonly file: WranglerFile
  readonly site: Site
  readonly settings: Settings
  readonly release: string
}

/**
 * Puts every Worker live, one after the other, each with its secrets in the same version: so there is none without
 * them, and a rollback brings back the secrets that belong to the code. The first that fails ends it, with a
 * {@link UsageError} that says where that leaves the service.
 */
export async function deployWorkers({ file, site, settings, release }: Deployment): Promise<void> {
  const workers = inOrder(file)
  await withPrivateFolder(async (write) => {
    const config = await write('wrangler.json', wranglerConfig(file, site))
    for (const [index, worker] of workers.entries()) {
      const secrets = secretsFor(settings, worker)
      const ran = await wrangler([
        'deploy',
        ...['--config', config, '--env', worker.name],
        ...(worker.hasSecrets ? ['--secrets-file', await write('secrets.json', secrets)] : []),
        ...['--tag', release, '--message', `Release ${release}`],
      ])
      if (ran.code !== 0) {
        throw new UsageError(brokenOff(workers, index, withoutSecrets(reasonOfFailure(ran), secrets)))
      }
      console.log(`${worker.name.padEnd(20)} ${describeTrigger(worker, site.host)}`)
    }
  })
}

/** What calls a Worker, for people. */
export function describeTrigger({ route, crons }: WorkerConfig, host: string): string {
  return route === undefined ? `cron ${crons.join(', ')}` : route.replace(/^\*/, host)
}

/** Cloudflare's code for limits that an account's plan does not have. */
const LIMITS_NOT_IN_PLAN = '100328'

function brokenOff(workers: readonly WorkerConfig[], failed: number, reason: string): string {
  const names = (some: readonly WorkerConfig[]) => some.map(({ name }) => name).join(', ') || 'none'
  const plan = reason.includes(LIMITS_NOT_IN_PLAN)
    ? ['The service needs the plan Workers Paid: a page takes more CPU than the free one has.']
    : []
  return [
    `${workers[failed]?.name} could not be deployed: ${reason}`,
    ...plan,
    `New: ${names(workers.slice(0, failed))}. As before: ${names(workers.slice(failed + 1))}. Either: ${workers[failed]?.name}.`,
    'The Workers of before work on the new schema, so nothing is broken. Mend the cause and run npm run deploy again; or npm run rollback takes back the new ones.',
  ].join('\n')
}

function withoutSecrets(text: string, secrets: Readonly<Record<string, string>>): string {
  const given = Object.values(secrets).filter((secret) => secret !== '')
  return given.reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
}
