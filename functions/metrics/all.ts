import { readdir } from 'node:fs/promises'
import type { DocumentedWorker } from '../../lib/page/operation.ts'

const FUNCTIONS = new URL('..', import.meta.url)

// The Worker of the days imports this file.
const files = (await readdir(FUNCTIONS)).filter((file) => file.endsWith('.ts') && file !== 'days.ts').sort()

const modules = await Promise.all(files.map((file) => import(new URL(file, FUNCTIONS).href)))

const workers = files.map((file, index) => [file.slice(0, -3), modules[index]?.default] as const)

/** The metrics of functions/ by the names of their files. Bundles import them instead (cli/workers/bundle.ts). */
export const metrics: Readonly<Record<string, DocumentedWorker>> = Object.fromEntries(
  workers.filter(([, worker]) => worker?.operation?.kind === 'metric'),
)
