import type { OutputFile, StdinOptions } from 'esbuild'

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
