import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { bundleAsset, NOTICE } from '../../../../charts/bundle-asset.ts'

/** What the report's page contains besides its data. */
export type Assets = { readonly script: string; readonly style: string }

const FOLDER = fileURLToPath(new URL('.', import.meta.url))

/** Bundles the script and the style of the report. `build.ts` replaces this module with the result. */
export async function assets(): Promise<Assets> {
  const script = `${NOTICE}\nimport { main } from './browser/main.ts'\nmain()`
  const style = await readFile(`${FOLDER}report.css`, 'utf8')
  return {
    script: await bundleAsset({ contents: script, resolveDir: FOLDER, loader: 'ts' }),
    style: await bundleAsset({ contents: style, resolveDir: FOLDER, loader: 'css' }),
  }
}
