import { once } from 'node:events'
import { watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { context } from 'esbuild'
import { render as renderSites } from '../../site/files.ts'
import { bundleOptions, writeBundles } from './bundle.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SOURCES = ['functions', 'lib', 'site', 'drizzle', 'docs'].map((name) => join(ROOT, name))

/** What the reference page is made from. */
const PAGE_SOURCE = /\/site\/|\/openapi\.json$|\/(sync|specification)\.md$/

/** Editors write a file in several steps. */
const DEBOUNCE_MS = 30

/**
 * Rebuilds dist/ after each change of a source file, and then calls `onBuild`. After an error, which esbuild prints, dist/
 * stays as it was.
 */
export async function watchBundle(onBuild: () => Promise<void>): Promise<never> {
  let sites = renderSites()
  let change = Promise.withResolvers<void>()
  for (const folder of await folders()) {
    watch(folder, (_, name) => {
      if (PAGE_SOURCE.test(`${folder}/${name}`)) {
        sites = renderInThread()
        // The build reports it.
        sites.catch(() => undefined)
      }
      change.resolve()
    })
  }
  const builder = await context({
    ...(await bundleOptions(() => sites)),
    logLevel: 'error',
  })
  for (;;) {
    await change.promise
    await sleep(DEBOUNCE_MS)
    change = Promise.withResolvers()
    const built = await builder.rebuild().catch(() => undefined)
    if (built === undefined) continue
    await writeBundles(built.outputFiles)
    await onBuild()
  }
}

/** The sources and every folder in them. Node's own recursive watch loses a file that an editor replaces by renaming. */
async function folders(): Promise<string[]> {
  const entries = await Promise.all(
    SOURCES.map((source) => readdir(source, { recursive: true, withFileTypes: true })),
  )
  const nested = entries.flat().filter((entry) => entry.isDirectory())
  return [...SOURCES, ...nested.map(({ parentPath, name }) => join(parentPath, name))]
}

/** Renders the page in a new thread, which imports its module again: Node has no way to reload one. */
async function renderInThread(): ReturnType<typeof renderSites> {
  const thread = new Worker(new URL('./render-thread.ts', import.meta.url))
  const [rendered] = await once(thread, 'message')
  return rendered
}
