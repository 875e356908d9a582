import { fileURLToPath } from 'node:url'
import { bundleAsset } from '../../../../site/charts/bundle-asset.ts'

/** What the report's page contains besides its data. */
export type Assets = { readonly script: string; readonly style: string }

const FOLDER = fileURLToPath(new URL('.', import.meta.url))

/** Bundles the script and the style of the report. `build.ts` replaces this module with the result. */
export async function assets(): Promise<Assets> {
  const bundle = async (contents: string, loader: 'ts' | 'css') =>
    (await bundleAsset({ contents, resolveDir: FOLDER, loader }))[0].text
  return {
    script: await bundle(`import { main } from './main.ts'\nmain()`, 'ts'),
    style: await bundle(`@import './page.css';`, 'css'),
  }
}
