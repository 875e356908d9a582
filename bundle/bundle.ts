import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build, type OutputFile, type Plugin } from 'esbuild'
import type { render as renderSites } from '../site/files.ts'
import type { Rendered, render as renderWorkers } from './render-workers.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FUNCTIONS = join(ROOT, 'functions')
const NO_ANALYTICS = fileURLToPath(new URL('./no-analytics.ts', import.meta.url))
const DIST = join(ROOT, 'dist')

/** A Worker's name and the size of its bundle in bytes. */
export interface Bundle {
  readonly name: string
  readonly bytes: number
  readonly gzip: number
}

/** Bundles every file of functions/ into dist/. Deployments and the emulator use these files. */
export async function bundle(): Promise<Bundle[]> {
  // Most of what startEmulator would load, which does not always bundle.
  const { render: renderSites } = await import('../site/files.ts')
  const { render: renderWorkers } = await import('./render-workers.ts')
  const { outputFiles } = await build(await bundleOptions({ renderSites, renderWorkers }))
  await writeBundles(outputFiles)
  return outputFiles.map(({ path, contents }) => ({
    name: basename(path, '.js'),
    bytes: contents.length,
    get gzip() {
      return gzipSync(contents).length
    },
  }))
}

/** What Workers contain rendered: the files that `site/files.ts` exports, and the modules with statements. */
export type Renderers = {
  readonly renderSites: typeof renderSites
  readonly renderWorkers: typeof renderWorkers
}

/** esbuild's options. */
export async function bundleOptions({ renderSites, renderWorkers }: Renderers) {
  const entries = (await readdir(FUNCTIONS)).filter((file) => file.endsWith('.ts')).sort()
  return {
    entryPoints: entries.map((file) => join(FUNCTIONS, file)),
    outdir: DIST,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2024',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'browser', 'import'],
    external: ['cloudflare:*'],
    plugins: [sites(renderSites), workers(renderWorkers)],
    alias: { '@upstash/core-analytics': NO_ANALYTICS },
    legalComments: 'none',
    logLevel: 'silent',
  } as const satisfies BuildOptions
}

/** Replaces `site/files.ts` by its files. */
const sites = (render: Renderers['renderSites']): Plugin => ({
  name: 'sites',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]site[\\/]files\.ts$/ }, async () => ({
      contents: Object.entries(await render())
        .map(([name, made]) => `export const ${name} = async () => (${JSON.stringify(made)})`)
        .join('\n'),
    })),
})

/** Replaces the modules with statements. When they cannot be rendered, esbuild reports what is wrong in their sources. */
const workers = (render: Renderers['renderWorkers']): Plugin => ({
  name: 'workers',
  setup({ onStart, onLoad, onEnd }) {
    let rendering: ReturnType<typeof render>
    onStart(() => {
      rendering = render()
      rendering.catch(() => undefined)
    })
    onLoad({ filter: /[\\/](functions[\\/][^\\/]+|statements)\.ts$/ }, async ({ path }) => {
      const rendered = await rendering.catch((): Rendered => ({}))
      const contents = rendered[relative(ROOT, path).replaceAll(sep, '/')]
      return contents === undefined ? undefined : { contents, resolveDir: dirname(path) }
    })
    onEnd(async ({ errors }) => {
      if (errors.length === 0) await rendering
    })
  },
})

/** Renames each file into place: another process may be reading the folder. */
export async function writeBundles(outputFiles: readonly OutputFile[]): Promise<void> {
  await mkdir(DIST, { recursive: true })
  await Promise.all(
    outputFiles.map(async ({ path, contents }) => {
      const unfinished = `${path}.${process.pid}`
      await writeFile(unfinished, contents)
      await rename(unfinished, path)
    }),
  )
}
