import { readFile } from 'node:fs/promises'
import { parse } from 'smol-toml'
import * as z from 'zod/mini'

const WRANGLER_TOML = new URL('../wrangler.toml', import.meta.url)

const File = z.object({
  compatibility_date: z.string(),
  env: z.record(
    z.string(),
    z.object({
      main: z.string(),
      route: z.optional(z.string()),
      triggers: z.optional(z.object({ crons: z.array(z.string()) })),
    }),
  ),
})

/** One Worker of wrangler.toml; `main` is a path from the repository's root. */
export interface WorkerConfig {
  name: string
  main: string
  route?: string | undefined
  crons: string[]
}

/** What wrangler.toml deploys, in its order. */
export interface WranglerConfig {
  compatibilityDate: string
  workers: WorkerConfig[]
}

/** Reads wrangler.toml, so that what runs locally is what is deployed. */
export async function readWranglerConfig(): Promise<WranglerConfig> {
  const file = z.parse(File, parse(await readFile(WRANGLER_TOML, 'utf8')))
  const workers = Object.entries(file.env).map(([name, { main, route, triggers }]) => ({
    name,
    main,
    route,
    crons: triggers?.crons ?? [],
  }))
  return { compatibilityDate: file.compatibility_date, workers }
}
