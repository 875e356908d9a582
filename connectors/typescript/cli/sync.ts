import type { ExportApi } from '../src/index.ts'
import { brandsPath, selectBrands, writeBrands } from './brands.ts'
import { removeUnfinished } from './folder.ts'
import { removeOldLocks, withLock } from './lock.ts'
import type { Progress } from './progress.ts'
import { storedBrands } from './state.ts'
import { syncBrand } from './sync-brand.ts'

/** How many brands are read at once. They share the rate limit. */
const PARALLEL = 4

export type Sync = {
  readonly api: ExportApi
  readonly folder: string
  /** First day to copy. Default: as far as the plan reaches. */
  readonly fromDate: string | undefined
  readonly progress: Progress
}

/** Brings a folder up to date. Throws `UsageError` when another sync writes it. */
export const sync = (options: Sync, brandIds: readonly string[] | undefined): Promise<void> =>
  withLock(options.folder, async () => {
    const { api, folder, progress } = options
    await removeUnfinished(folder)
    await removeOldLocks(folder)
    const listed = await api.brands()
    const queue = [...selectBrands(listed, brandIds)]
    await writeBrands(brandsPath(folder), listed)
    for (const brandId of await storedBrands(folder)) {
      if (listed.some(({ id }) => id === brandId)) continue
      const message = `The key no longer reads brand ${brandId}. Its files stay as they are.`
      progress.notice('brand_gone', message, { brand: brandId })
    }
    const failures: unknown[] = []
    const work = async () => {
      for (let brand = queue.shift(); brand && failures.length === 0; brand = queue.shift()) {
        const { id, name } = brand
        await syncBrand(options, id).catch((error) => {
          failures.push(error)
          const reason = error instanceof Error ? error.message : error
          progress.notice('brand_failed', `${name} is not up to date: ${reason}`, { brand: id })
        })
      }
    }
    await Promise.all(Array.from({ length: PARALLEL }, work))
    if (failures.length > 0) throw failures[0]
  })
