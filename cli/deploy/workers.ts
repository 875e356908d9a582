import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../../drizzle/db/connect.ts'
import {
  byRoute,
  type WorkerConfig,
  type WranglerFile,
  withOuterLimit,
  workersOf,
} from '../workers/wrangler-config.ts'
import { hostOf, regionOf, type Settings, secretsFor } from './settings.ts'
import { withPrivateFolder, wrangler } from './wrangler.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What is deployed: wrangler.toml with the owner's settings. Cloudflare lists each version with the commit as its tag. */
export type Release = { readonly file: WranglerFile; readonly settings: Settings; readonly commit: string }

/**
 * Deploys one Worker after another with `program`, wrangler by default, each with its secrets in the same version. Throws
 * `UsageError` at the first failure and says which Workers are live.
 */
export async function deployWorkers({ file, settings, commit }: Release, program?: string): Promise<void> {
  const workers = inOrder(file)
  await withPrivateFolder(async (write) => {
    const config = await write('wrangler.json', wranglerConfig(file, settings))
    for (const [index, worker] of workers.entries()) {
      const secrets = secretsFor(settings, worker)
      const args = [
        'deploy',
        ...['--config', config, '--env', worker.name, '--tag', commit],
        ...(secrets === undefined ? [] : ['--secrets-file', await write('secrets.json', secrets)]),
      ]
      const { code, output } = await wrangler(args, program)
      if (code !== 0) {
        const names = (some: WorkerConfig[]) => some.map(({ name }) => name).join(', ') || 'none'
        throw new UsageError(
          [
            `wrangler could not deploy ${worker.name}:`,
            withoutSecrets(output, settings),
            `New version: ${names(workers.slice(0, index))}. Previous version: ${names(workers.slice(index + 1))}. Unknown: ${worker.name}.`,
            'The previous Workers are compatible with the new schema, and digests have their fields. Fix the cause and run npm run deploy again.',
          ].join('\n'),
        )
      }
      console.log(`${nameOf(file, worker).padEnd(36)} ${triggerOf(worker, hostOf(settings.API_URL))}`)
    }
  })
}

/**
 * The order of deployment. Scheduled Workers come first: the others read what they write. The Worker with the catch-all
 * route, which serves the OpenAPI document, comes last: it must not describe what is not live.
 */
export const inOrder = (file: WranglerFile): WorkerConfig[] =>
  workersOf(file).toSorted((a, b) => byRoute(b, a))

/** The Worker's name at Cloudflare. */
export const nameOf = (file: WranglerFile, { name }: WorkerConfig): string => `${file.name}-${name}`

/** The Worker's routes, or its cron patterns. */
export function triggerOf({ routes, crons }: WorkerConfig, host: string): string {
  if (routes.length === 0) return `cron ${crons.join(', ')}`
  return routes.map((route) => atHost(route, host)).join(', ')
}

const atHost = (route: string, host: string): string => route.replace(/^\*/, host)

/**
 * wrangler.toml with the owner's host, region and outer limit, and without `build`, which would run again for each Worker.
 */
export function wranglerConfig({ build: _, ...rest }: WranglerFile, settings?: Settings): WranglerFile {
  const file = withOuterLimit(rest, Number(settings?.OUTER_LIMIT) || undefined)
  const region = settings && regionOf(settings.DATABASE_URL)
  const env = Object.entries(file.env).map(([name, worker]) => {
    const main = join(ROOT, worker.main)
    if (worker.routes === undefined || settings === undefined) return [name, { ...worker, main }]
    const routes = worker.routes.map((route) => ({
      pattern: atHost(route, hostOf(settings.API_URL)),
      zone_name: settings.CLOUDFLARE_ZONE,
    }))
    return [name, { ...worker, main, routes }]
  })
  return { ...file, ...(region !== undefined && { placement: { region } }), env: Object.fromEntries(env) }
}

function withoutSecrets(text: string, settings: Settings): string {
  const { CLOUDFLARE_ZONE: _zone, API_URL: _url, SESSION_COOKIE: _cookie, ...others } = settings
  const { OUTER_LIMIT: _limit, REFRESH_LANES: _lanes, URL_SECONDS: _seconds, ...rest } = others
  const { SHARE_BUCKET: _bucket, NAME_PREFIX: _prefix, ...secrets } = rest
  const values = Object.values(secrets).filter((value) => value !== '')
  return values.reduce((rest, value) => rest.replaceAll(value, '…'), text)
}
