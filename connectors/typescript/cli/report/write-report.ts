import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { folderStore } from '../folder-store.ts'
import type { Store } from '../store.ts'
import { assets } from './assets.ts'
import { page } from './page.ts'
import { readReport } from './read-report.ts'

/** Writes the charts of a copy into one HTML file, and returns what it contains. */
export async function writeReport(store: Store, out: string): Promise<{ brands: number; bytes: number }> {
  const brands = await readReport(store)
  const html = page(brands, await assets())
  await folderStore(dirname(out)).replace(basename(out), html)
  return { brands: brands.length, bytes: (await stat(out)).size }
}
