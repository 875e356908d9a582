import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { type BuildOptions, build, type OutputFile, type Plugin } from 'esbuild'
import type { render as renderSites } from '../../site/files.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FUNCTIONS = join(ROOT, 'functions')
const METRICS = join(FUNCTIONS, 'metrics')
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
  const { render } = await import('../../site/files.ts')
  const { outputFiles } = await build(await bundleOptions(render))
  await writeBundles(outputFiles)
  return outputFiles.map(({ path, contents }) => ({
    name: basename(path, '.js'),
    bytes: contents.length,
    get gzip() {
      return gzipSync(contents).length
    },
  }))
}

/** esbuild's options. `render` returns the files that `site/files.ts` exports. */
export async function bundleOptions(render: typeof renderSites) {
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
    plugins: [sites(render), allMetrics],
    alias: { '@upstash/core-analytics': NO_ANALYTICS },
    legalComments: 'none',
    logLevel: 'silent',
  } as const satisfies BuildOptions
}

/** Replaces `site/files.ts` by its files. */
const sites = (render: typeof renderSites): Plugin => ({
  name: 'sites',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]site[\\/]files\.ts$/ }, async () => ({
      contents: Object.entries(await render())
        .map(([name, made]) => `export const ${name} = async () => (${JSON.stringify(made)})`)
        .join('\n'),
    })),
})

/** Replaces the search of `functions/metrics/all.ts` by what it finds. */
const allMetrics: Plugin = {
  name: 'metrics',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]functions[\\/]metrics[\\/]all\.ts$/ }, async () => {
      const { metrics } = await import('../../functions/metrics/all.ts')
      const names = Object.keys(metrics)
      const imports = names.map((name, index) => `import m${index} from "../${name}.ts"`)
      const entries = names.map((name, index) => `'${name}': m${index}`)
      return {
        contents: `${imports.join('\n')}\nexport const metrics = { ${entries.join(', ')} }`,
        resolveDir: METRICS,
      }
    }),
}

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
