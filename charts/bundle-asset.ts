import type { StdinOptions } from 'esbuild'

/** Begins a script that draws charts. */
export const NOTICE = '/*! d3-array and d3-time: Copyright Mike Bostock, ISC License */'

/** Bundles a script or a style sheet for browsers. */
export async function bundleAsset(stdin: StdinOptions): Promise<string> {
  // Imported here because commands that only list the Workers do not need esbuild.
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    stdin,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'inline',
    logLevel: 'silent',
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error('esbuild returned no file')
  return file.text
}
