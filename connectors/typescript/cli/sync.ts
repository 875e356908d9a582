import {
  type Brand,
  type ExportApi,
  ExportApiError,
  ForbiddenError,
  UnauthorizedError,
} from '../src/index.ts'
import { brandsPath, selectBrands, writeBrands } from './brands.ts'
import { listTogether } from './changes.ts'
import { removeUnfinished } from './folder.ts'
import { removeOldLocks, withLock } from './lock.ts'
import type { Progress } from './progress.ts'
import { type BrandCopy, openCopy, storedBrands } from './state.ts'
import { syncBrand } from './sync-brand.ts'
import { UsageError } from './usage-error.ts'

/** How many brands are read at once. They share the rate limit. */
const PARALLEL = 4

export type Sync = {
  readonly api: ExportApi
  readonly folder: string
  /** First day to copy. Default: as far as the plan reaches. */
  readonly fromDate: string | undefined
  readonly progress: Progress
}

/** The copy of a brand, and the brand's name. */
type NamedCopy = BrandCopy & { readonly name: string }

/** Reads where the copies of brands stand. */
export const openCopies = ({ folder }: Sync, brands: readonly Brand[]): Promise<NamedCopy[]> =>
  Promise.all(brands.map(async ({ id, name }) => ({ ...(await openCopy({ folder, brandId: id })), name })))

/** Brings a folder up to date, until the service lists no change. Throws `UsageError` when another sync writes it. */
export const sync = (options: Sync, brandIds: readonly string[] | undefined): Promise<void> =>
  withLock(options.folder, async () => {
    const { api, folder, progress } = options
    await removeUnfinished(folder)
    await removeOldLocks(folder)
    const listed = await api.brands()
    const selected = selectBrands(listed, brandIds)
    await writeBrands(brandsPath(folder), listed)
    for (const brandId of await storedBrands(folder)) {
      if (listed.some(({ id }) => id === brandId)) continue
      const message = `The key no longer reads brand ${brandId}. Its files stay as they are.`
      progress.notice('brand_gone', message, { brand: brandId })
    }
    let copies = await openCopies(options, selected)
    const failures: string[] = []
    for (let isCurrent = false; !isCurrent; ) {
      isCurrent = true
      const together = await listTogether(options, copies)
      await inParallel(copies, async (copy) => {
        const isUnchanged = await syncBrand(options, copy, together).catch((error) => {
          if (!isOfBrand(error)) throw error
          failures.push(`${copy.name}: ${error.message}`)
          progress.notice('brand_failed', `${copy.name} is not up to date: ${error.message}`, {
            brand: copy.brandId,
          })
          copies = copies.filter((other) => other !== copy)
          return true
        })
        if (!isUnchanged) isCurrent = false
      })
    }
    if (failures.length === 0) return
    const others = copies.length > 0 ? ' Other brands are up to date.' : ''
    throw new UsageError(`Not up to date: ${failures.join(' ')}${others}`)
  })

/** Whether other brands can succeed nevertheless. */
const isOfBrand = (error: unknown): error is Error =>
  error instanceof UsageError ||
  (error instanceof ExportApiError &&
    !(error instanceof UnauthorizedError || error instanceof ForbiddenError))

/** Runs work for each item, some at once. Starts none after one has failed; throws its error when all have ended. */
async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items]
  const errors: unknown[] = []
  const worker = async () => {
    for (let item = left.shift(); item !== undefined && errors.length === 0; item = left.shift()) {
      await work(item).catch((error) => errors.push(error))
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  if (errors.length > 0) throw errors[0]
}
