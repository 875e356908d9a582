import { readFile } from 'node:fs/promises'
import { parse } from 'smol-toml'
import * as z from 'zod/mini'

const WRANGLER_TOML = new URL('../wrangler.toml', import.meta.url)

const File = z.looseObject({
  name: z.string(),
  compatibility_date: z.string(),
  env: z.record(
    z.string(),
    z.looseObject({
      main: z.string(),
      route: z.optional(z.string()),
      triggers: z.optional(z.looseObject({ crons: z.array(z.string()) })),
      secrets: z.optional(z.looseObject({ required: z.array(z.string()) })),
    }),
  ),
})

/** wrangler.toml with everything that it says, read as far as this project has a use for it. */
export type WranglerFile = z.infer<typeof File>

/** One Worker of wrangler.toml; `main` is a path from the repository's root. */
export interface WorkerConfig {
  name: string
  main: string
  route?: string | undefined
  crons: string[]
  /** Whether it asks its environment for anything; one that says that it requires no secret does not. */
  hasSecrets: boolean
}

/** What wrangler.toml deploys, in its order. */
export interface WranglerConfig {
  compatibilityDate: string
  workers: WorkerConfig[]
}

/** Reads wrangler.toml as it is. */
export async function readWranglerFile(): Promise<WranglerFile> {
  return z.parse(File, parse(await readFile(WRANGLER_TOML, 'utf8')))
}

/** Reads wrangler.toml, so that what runs locally is what is deployed. */
export async function readWranglerConfig(): Promise<WranglerConfig> {
  const file = await readWranglerFile()
  return { compatibilityDate: file.compatibility_date, workers: workersOf(file) }
}

/** The Workers of wrangler.toml, in its order. */
export function workersOf({ env }: WranglerFile): WorkerConfig[] {
  return Object.entries(env).map(([name, { main, route, triggers, secrets }]) => ({
    name,
    main,
    route,
    crons: triggers?.crons ?? [],
    hasSecrets: secrets?.required.length !== 0,
  }))
}
