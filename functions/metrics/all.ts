import { readdir } from 'node:fs/promises'
import type { DocumentedWorker } from '../../lib/page/operation.ts'

const FUNCTIONS = new URL('..', import.meta.url)

/** The Worker that has all metrics. */
const DAYS = 'days.ts'

/** The metrics of functions/ by the names of their files. Bundles import them instead (cli/workers/bundle.ts). */
export const metrics: Readonly<Record<string, DocumentedWorker>> = Object.fromEntries(
  (
    await Promise.all(
      (
        await readdir(FUNCTIONS)
      )
        .filter((file) => file.endsWith('.ts') && file !== DAYS)
        .sort()
        .map(
          async (file) => [file.slice(0, -3), (await import(new URL(file, FUNCTIONS).href)).default] as const,
        ),
    )
  ).filter(([, worker]) => worker?.operation?.kind === 'metric'),
)
