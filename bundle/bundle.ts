import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { files } from '../site/files.ts'

const FUNCTIONS = fileURLToPath(new URL('../functions', import.meta.url))
const NO_ANALYTICS = fileURLToPath(new URL('./no-analytics.ts', import.meta.url))
const DIST = fileURLToPath(new URL('../dist', import.meta.url))

/** The reference page is made here, and not by the Worker that serves it. */
const MADE: Plugin = {
  name: 'made',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]site[\\/]files\.ts$/ }, async () => ({
      contents: `const made = ${JSON.stringify(await files())}\nexport const files = async () => made`,
    })),
}

/** A Worker's name and the sizes of its bundle in bytes. */
export interface Bundle {
  name: string
  bytes: number
  gzip: number
}

/** Bundles every file of functions/ into dist/: the bytes that are deployed, and that the emulator runs. */
export async function bundle(from: string = FUNCTIONS, to: string = DIST): Promise<Bundle[]> {
  const files = (await readdir(from)).filter((file) => file.endsWith('.ts')).sort()
  if (files.length === 0) return []
  const { outputFiles } = await build({
    entryPoints: files.map((file) => join(from, file)),
    outdir: to,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2024',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'browser', 'import'],
    external: ['cloudflare:*'],
    plugins: [MADE],
    alias: { '@upstash/core-analytics': NO_ANALYTICS },
    legalComments: 'none',
    logLevel: 'silent',
  })
  await mkdir(to, { recursive: true })
  return Promise.all(
    outputFiles.map(async ({ path, contents }) => {
      // Renamed into place: another process may be starting from the same folder.
      const unfinished = `${path}.${process.pid}`
      await writeFile(unfinished, contents)
      await rename(unfinished, path)
      return { name: basename(path, '.js'), bytes: contents.length, gzip: gzipSync(contents).length }
    }),
  )
}

if (import.meta.main) {
  try {
    for (const { name, bytes, gzip } of await bundle()) {
      console.log(`${name.padEnd(20)} ${String(bytes).padStart(8)} bytes ${String(gzip).padStart(8)} gzip`)
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
