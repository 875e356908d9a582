import { readFile } from 'node:fs/promises'
import type { DEMO } from '../../drizzle/seed/demo.ts'
import { LOOPBACK } from '../../lib/http/app.ts'

/** What the page has of the demo: keys to try the service with, and a button that changes its past. */
export type DemoPage = {
  readonly keys: typeof DEMO.keys
  /** Returns a sentence about each edit. */
  readonly restate: () => Promise<readonly string[]>
}

type Module = { type: 'ESModule' | 'Text'; path: string; contents: string }

/** A Worker as miniflare takes it. Its first module is the guard, which imports the Worker's own. */
type Options = {
  readonly name: string
  readonly routes: string[]
  readonly bindings: Record<string, string>
  readonly modules: Module[]
}

/** Puts a Worker in front of the reference page, which enters the first of the keys and lists them all. */
export async function withDemoPage<Worker extends Options>(workers: readonly Worker[], { keys }: DemoPage) {
  const contentsOf = (path: string) => readFile(new URL(path, import.meta.url), 'utf8')
  const modules: Module[] = [
    { type: 'ESModule', path: 'worker.js', contents: await contentsOf('demo-page-worker.mjs') },
    { type: 'Text', path: 'demo-page-script.mjs', contents: await contentsOf('demo-page-script.mjs') },
  ]
  return workers.flatMap((worker) =>
    worker.name === 'docs'
      ? [
          { ...worker, routes: [] },
          {
            ...worker,
            ...{ name: 'demo-page', serviceBindings: { PAGE: 'docs' } },
            bindings: { ...worker.bindings, KEYS: keys, LOOPBACK: LOOPBACK.source },
            modules: [...worker.modules.slice(0, 1), ...modules],
          },
        ]
      : [worker],
  )
}
