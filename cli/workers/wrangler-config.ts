import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { parse } from 'smol-toml'
import * as z from 'zod/mini'

const WRANGLER_TOML = new URL('../../wrangler.toml', import.meta.url)

const RateLimits = z.tuple([
  z.looseObject({
    name: z.string(),
    namespace_id: z.string(),
    simple: z.object({ limit: z.number(), period: z.literal(60) }),
  }),
])

const File = z.looseObject({
  name: z.string(),
  compatibility_date: z.string(),
  ratelimits: RateLimits,
  env: z.record(
    z.string(),
    z.looseObject({
      main: z.string(),
      routes: z.optional(z.array(z.string())),
      triggers: z.optional(z.looseObject({ crons: z.array(z.string()) })),
      secrets: z.optional(z.looseObject({ required: z.array(z.string()) })),
      ratelimits: z.optional(RateLimits),
      r2_buckets: z.optional(z.array(z.looseObject({ binding: z.string(), bucket_name: z.string() }))),
    }),
  ),
})

/** wrangler.toml, typed as far as this project reads it. */
export type WranglerFile = z.infer<typeof File>

/** A Worker of wrangler.toml. `main` is relative to the repository. */
export interface WorkerConfig {
  name: string
  main: string
  routes: string[]
  crons: string[]
  /** False when wrangler.toml says `secrets.required = []`. */
  hasSecrets: boolean
  /** Names of the bindings of buckets. */
  buckets: string[]
  ratelimits: z.infer<typeof RateLimits> | []
}

/** Reads wrangler.toml. */
export async function readWranglerFile(): Promise<WranglerFile> {
  return z.parse(File, parse(await readFile(WRANGLER_TOML, 'utf8')))
}

/** Reads the Workers of wrangler.toml. */
export const readWorkers = async (): Promise<WorkerConfig[]> => workersOf(await readWranglerFile())

/** The Workers in the order of wrangler.toml. */
export function workersOf({ env }: WranglerFile): WorkerConfig[] {
  return Object.entries(env).map(([name, { main, routes, triggers, secrets, r2_buckets, ratelimits }]) => ({
    name,
    main,
    routes: routes ?? [],
    crons: triggers?.crons ?? [],
    hasSecrets: secrets?.required.length !== 0,
    buckets: (r2_buckets ?? []).map(({ binding }) => binding),
    ratelimits: ratelimits ?? [],
  }))
}

/** Orders Workers from the one with the catch-all route to those without a route. */
export const byRoute = (a: WorkerConfig, b: WorkerConfig): number => routeLength(a) - routeLength(b)

/** Returns the shortest path of a route. */
export const pathOf = (route: string): string => route.replaceAll('*', '')

const routeLength = ({ routes }: WorkerConfig): number =>
  routes.length === 0 ? Number.MAX_SAFE_INTEGER : Math.max(...routes.map(({ length }) => length))

/**
 * Names the Workers of a second environment of the account, and gives it its own counters of the outer limit: all
 * Workers with one `namespace_id` share them.
 */
export function withPrefix(file: WranglerFile, prefix: string): WranglerFile {
  if (prefix === '') return file
  const digest = createHash('sha256').update(prefix).digest('hex')
  const namespace_id = String(Number.parseInt(digest.slice(0, 7), 16))
  return { ...file, name: prefix + file.name, ratelimits: [{ ...file.ratelimits[0], namespace_id }] }
}

/** Binds the Workers of the share to a bucket; leaves them out without one. */
export function withBucket(file: WranglerFile, bucket_name: string): WranglerFile {
  const env = Object.entries(file.env).flatMap(([name, worker]) => {
    const { r2_buckets } = worker
    if (r2_buckets === undefined) return [[name, worker] as const]
    if (bucket_name === '') return []
    return [
      [name, { ...worker, r2_buckets: r2_buckets.map((bucket) => ({ ...bucket, bucket_name })) }] as const,
    ]
  })
  return { ...file, env: Object.fromEntries(env) }
}

/**
 * Binds the outer limit to each Worker that answers requests and has secrets: that of wrangler.toml, or of so many
 * requests a minute.
 */
export function withOuterLimit(file: WranglerFile, requests?: number): WranglerFile {
  const limit = requests ?? file.ratelimits[0].simple.limit
  const ratelimits: typeof file.ratelimits = [{ ...file.ratelimits[0], simple: { limit, period: 60 } }]
  const env = Object.entries(file.env).map(([name, worker]) => {
    if (worker.routes === undefined || worker.secrets?.required.length === 0) return [name, worker] as const
    return [name, { ...worker, ratelimits }] as const
  })
  return { ...file, ratelimits, env: Object.fromEntries(env) }
}
