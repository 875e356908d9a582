import {
  type Brand,
  type ExportApi,
  ExportApiError,
  ForbiddenError,
  UnauthorizedError,
} from '../src/index.ts'
import { brandsPath, selectBrands, writeBrands } from './brands.ts'
import { listTogether } from './changes.ts'
import { CommandError, DiffersError } from './errors.ts'
import { removeUnfinished } from './folder.ts'
import { renewColumns } from './keep-days.ts'
import { removeOldLocks, withLock } from './lock.ts'
import type { Progress } from './progress.ts'
import { type BrandCopy, openCopy, storedBrands } from './state.ts'
import { syncBrand } from './sync-brand.ts'

export type Sync = {
  readonly api: ExportApi
  readonly folder: string
  /** First day to copy. Default: as far as the plan reaches. */
  readonly fromDate: string | undefined
  /** Last day to copy. Default: all. */
  readonly toDate?: string | undefined
  /** The endpoints to copy. Default: all. */
  readonly endpoints?: readonly string[] | undefined
  /** How many brands are read at once. They share the rate limit. */
  readonly concurrency?: number | undefined
  readonly progress: Progress
}

type Open = { readonly brand: Brand; readonly copy: BrandCopy }

/**
 * Brings a folder up to date, until the service lists no change. Throws `CommandError` when another sync writes it, and
 * `DiffersError` when brands failed.
 */
export const sync = (options: Sync, brandIds: readonly string[] | undefined): Promise<void> =>
  withLock(options.folder, async () => {
    const { api, folder, progress, concurrency = 4 } = options
    await removeUnfinished(folder)
    await removeOldLocks(folder)
    const listed = await api.brands()
    const selected = selectBrands(listed, brandIds)
    await writeBrands(brandsPath(folder), listed)
    for (const brandId of await storedBrands(folder)) {
      if (listed.some(({ id }) => id === brandId)) continue
      const message = `The key no longer reads brand ${brandId}. Its files stay as they are.`
      progress.notice('brand_gone', message, { brand: brandId }, 'warn')
    }
    const failures: string[] = []
    /** Returns undefined when a brand fails, which others can survive. */
    const attempt = <Result>({ id, name }: Brand, work: Promise<Result>): Promise<Result | undefined> =>
      work.catch((error) => {
        if (!isOfBrand(error)) throw error
        failures.push(`${name}: ${error.message}`)
        progress.notice('brand_failed', `${name} is not up to date: ${error.message}`, { brand: id }, 'error')
        return undefined
      })
    let current: Open[] = []
    for (const brand of selected) {
      const copy = await attempt(brand, prepareCopy(options, brand.id))
      if (copy !== undefined) current.push({ brand, copy })
    }
    for (let isChanged = true; isChanged; ) {
      const together = await listTogether(
        options,
        current.map(({ copy }) => copy),
      )
      const outcomes = await inParallel(current, concurrency, ({ brand, copy }) =>
        attempt(brand, syncBrand(options, copy, together)),
      )
      current = current.filter((_, index) => outcomes[index] !== undefined)
      isChanged = outcomes.includes('changed')
    }
    if (failures.length === 0) return
    const others = current.length > 0 ? ' Other brands are up to date.' : ''
    throw new DiffersError(`Not up to date: ${failures.join(' ')}${others}`)
  })

/** Opens the copy of a brand. Its files have the columns of this version. */
async function prepareCopy(options: Sync, brandId: string): Promise<BrandCopy> {
  const copy = await openCopy({ folder: options.folder, brandId }, options)
  await renewColumns(copy)
  return copy
}

/** Whether other brands can succeed nevertheless. */
const isOfBrand = (error: unknown): error is Error =>
  error instanceof CommandError ||
  (error instanceof ExportApiError &&
    !(error instanceof UnauthorizedError || error instanceof ForbiddenError))

/**
 * Runs work for each item, some at once. Starts none after one has thrown; throws its error when all have ended. Returns
 * the results in the order of the items.
 */
async function inParallel<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const left = [...items.entries()]
  const results: Result[] = []
  const errors: unknown[] = []
  const worker = async () => {
    for (let next = left.shift(); next !== undefined && errors.length === 0; next = left.shift()) {
      const [index, item] = next
      await work(item).then(
        (result) => {
          results[index] = result
        },
        (error) => errors.push(error),
      )
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  if (errors.length > 0) throw errors[0]
  return results
}
