import * as z from 'zod/mini'
import { UsageError } from '../../drizzle/db/connect.ts'
import { reasonOfFailure, wrangler } from './wrangler.ts'

/** A version of a Worker, and the release that it belongs to: its tag, else itself. */
export type Version = { readonly id: string; readonly created: string; readonly release: string }

/** The version that is live, and those that it came after, the latest last. */
export type History = { readonly live: Version; readonly past: readonly Version[] }

const Versions = z.array(
  z.object({
    id: z.string(),
    metadata: z.object({ created_on: z.string() }),
    annotations: z.optional(z.record(z.string(), z.string())),
  }),
)

const Deployments = z.array(
  z.object({
    created_on: z.string(),
    versions: z.array(z.object({ version_id: z.string(), percentage: z.number() })),
  }),
)

/** Asks Cloudflare for the latest versions of a Worker; undefined when none of them is live. */
export async function historyOf(config: string, worker: string): Promise<History | undefined> {
  const where = ['--config', config, '--env', worker, '--json']
  const [versions, deployments] = await Promise.all([
    listing(Versions, worker, ['versions', 'list', ...where]),
    listing(Deployments, worker, ['deployments', 'list', ...where]),
  ])
  const known = new Map(
    versions.map(({ id, metadata, annotations }) => [
      id,
      { id, created: metadata.created_on, release: annotations?.['workers/tag'] || id },
    ]),
  )
  const past = lineOf(
    deployments
      .toSorted((a, b) => a.created_on.localeCompare(b.created_on))
      .flatMap(({ versions: shares }) => shares.toSorted((a, b) => b.percentage - a.percentage).slice(0, 1))
      .map(({ version_id: id }) => id),
  ).map((id) => known.get(id) ?? { id, created: '', release: id })
  const live = past.pop()
  return live && { live, past }
}

/** What has been live, in order, without what was taken back: a version that comes again ends all that came after it. */
function lineOf(ids: readonly string[]): string[] {
  return ids.reduce<string[]>(
    (line, id) => [...line.slice(0, line.includes(id) ? line.indexOf(id) : undefined), id],
    [],
  )
}

/** The release that is left by a rollback: the one whose versions were made last, of those that are live. */
export function newestRelease(histories: readonly History[]): string | undefined {
  return histories.map(({ live }) => live).toSorted((a, b) => b.created.localeCompare(a.created))[0]?.release
}

/** The version that a Worker goes back to when it leaves a release; undefined when there is none. */
export function versionBefore({ past }: History, release: string): Version | undefined {
  return past.findLast((version) => version.release !== release)
}

async function listing<Shape extends z.core.$ZodType>(
  shape: Shape,
  worker: string,
  args: readonly string[],
): Promise<z.output<Shape>> {
  const ran = await wrangler(args)
  if (ran.code !== 0) {
    throw new UsageError(`Cloudflare does not tell the versions of ${worker}: ${reasonOfFailure(ran)}`)
  }
  return z.parse(shape, JSON.parse(ran.stdout))
}
