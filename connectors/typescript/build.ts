// Writes the command to dist/, as one file with the libraries that it uses, and their licenses next to it.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { readStreams } from '../../site/reference/streams.ts'
import { assets } from './cli/report/assets.ts'

const ROOT = fileURLToPath(new URL('.', import.meta.url))

/** Bundles the command. Returns the paths of the files that it contains, from this folder. */
export async function bundleCommand(outfile: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['cli/export-api.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.3',
    // Libraries in CommonJS call it.
    banner: {
      js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)",
    },
    plugins: [
      {
        name: 'computed',
        setup({ onLoad }) {
          onLoad({ filter: /[\\/]report[\\/]assets\.ts$/ }, async () => ({
            contents: `export const assets = async () => (${JSON.stringify(await assets())})`,
          }))
          onLoad({ filter: /[\\/]reference[\\/]streams\.ts$/ }, () => ({
            contents: `export const readStreams = () => (${JSON.stringify(readStreams())})`,
          }))
        },
      },
    ],
    metafile: true,
    logLevel: 'warning',
  })
  return Object.keys(metafile.inputs)
}

/** Returns the license texts of the packages that bundled files come from. */
async function licenses(files: readonly string[]): Promise<string> {
  const packages = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  const texts = [...new Set(packages)].sort().map(async (path) => {
    const file = (await readdir(join(ROOT, path))).find((name) => /^licen[cs]e/i.test(name))
    if (file === undefined) throw new Error(`${path} has no license`)
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    return `${name}\n\n${(await readFile(join(ROOT, path, file), 'utf8')).trim()}\n`
  })
  return (await Promise.all(texts)).join('\n\n')
}

if (import.meta.main) {
  await rm(join(ROOT, 'dist'), { recursive: true, force: true })
  const files = await bundleCommand('dist/export-api.js')
  await writeFile(join(ROOT, 'dist/LICENSES.txt'), await licenses(files))
}
