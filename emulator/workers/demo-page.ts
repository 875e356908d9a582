import { readFile } from 'node:fs/promises'
import type { DEMO } from '../../drizzle/seed/demo.ts'

/** Keys to try the service with. */
export type DemoKeys = typeof DEMO.keys

/** A Worker as miniflare takes it. */
type Options = { readonly name: string; readonly routes: string[] }

/** Puts a Worker in front of the reference page, which enters the first of the keys and lists them all. */
export async function withDemoPage<Worker extends Options>(workers: readonly Worker[], keys: DemoKeys) {
  const module = async (path: string, type: 'ESModule' | 'Text') => {
    const contents = await readFile(new URL(path, import.meta.url), 'utf8')
    return { type, path, contents }
  }
  const modules = [
    await module('demo-page-worker.mjs', 'ESModule'),
    await module('demo-page-script.mjs', 'Text'),
  ]
  const demo = { name: 'demo-page', modules, bindings: { KEYS: keys }, serviceBindings: { PAGE: 'docs' } }
  return workers.flatMap((worker) =>
    worker.name === 'docs'
      ? [
          { ...worker, routes: [] },
          { ...worker, ...demo },
        ]
      : [worker],
  )
}
