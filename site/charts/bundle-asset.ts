import { readFile } from 'node:fs/promises'
import type { OutputFile, Plugin, StdinOptions } from 'esbuild'

/** Leaves out of uPlot the ways to draw lines and to join data that it assigns to itself, and charts do not use. */
const SMALLER_UPLOT: Plugin = {
  name: 'smaller-uplot',
  setup: ({ onLoad }) =>
    onLoad({ filter: /uPlot\.esm\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll(/^\t(\(paths\.\w+|uPlot\.join) .*$/gm, ''),
    })),
}

/**
 * Bundles a script or a style sheet for browsers. Returns it first. With splitting, the parts of the script that it loads
 * later follow, which have their hashes as names.
 */
export async function bundleAsset(
  stdin: StdinOptions,
  splitting = false,
): Promise<[OutputFile, ...OutputFile[]]> {
  // Imported here because commands that only list the Workers do not need esbuild.
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    stdin,
    write: false,
    bundle: true,
    minify: true,
    splitting,
    plugins: [SMALLER_UPLOT],
    outdir: '/',
    chunkNames: '[hash]',
    format: 'esm',
    target: 'es2022',
    legalComments: 'inline',
    logLevel: 'silent',
  })
  // esbuild names it after the standard input, and sorts the files.
  const file = outputFiles.find(({ path }) => path.startsWith('/stdin.'))
  if (file === undefined) throw new Error('esbuild returned no file')
  return [file, ...outputFiles.filter((each) => each !== file)]
}
