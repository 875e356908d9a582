import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type WorkerConfig, type WranglerFile, workersOf } from '../../bundle/wrangler-config.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Where an owner's Workers are reached, and where they run. */
export type Site = {
  readonly host: string
  readonly zone: string
  /** The cloud's region that the database is in, as Cloudflare names it; undefined when it cannot be told. */
  readonly region: string | undefined
}

/**
 * wrangler.toml as one command sends it: the bundles that are there already and no build of its own, since that would
 * run once a Worker; for a site, its host in the routes and its region.
 */
export function wranglerConfig({ build: _, ...file }: WranglerFile, site?: Site): WranglerFile {
  const env = Object.entries(file.env).map(([name, { route, ...worker }]) => {
    const main = join(ROOT, worker.main)
    if (route === undefined) return [name, { ...worker, main }]
    if (site === undefined) return [name, { ...worker, main, route }]
    const pattern = route.replace(/^\*/, site.host)
    return [name, { ...worker, main, routes: [{ pattern, zone_name: site.zone }] }]
  })
  return {
    ...file,
    ...(site?.region !== undefined && { placement: { region: site.region } }),
    env: Object.fromEntries(env),
  }
}

/**
 * The Workers in the order in which a release puts them live: the scheduled ones first, which bring about what the
 * others read; then from the narrowest route to the one for everything else, whose document must promise nothing that
 * is not there yet.
 */
export function inOrder(file: WranglerFile): WorkerConfig[] {
  const reach = ({ route }: WorkerConfig) => -(route?.length ?? Number.POSITIVE_INFINITY)
  return workersOf(file).toSorted((a, b) => (reach(a) === reach(b) ? 0 : reach(a) - reach(b)))
}

/** Keeps files in a folder that nobody else can read, for as long as the work takes. */
export async function withPrivateFolder<Result>(
  work: (write: (name: string, content: unknown) => Promise<string>) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'export-api-'))
  try {
    return await work(async (name, content) => {
      const path = join(folder, name)
      await writeFile(path, JSON.stringify(content), { mode: 0o600 })
      return path
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
