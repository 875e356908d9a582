import {
  type Brand,
  type ExportApi,
  ExportApiError,
  ForbiddenError,
  UnauthorizedError,
} from '../src/index.ts'
import { type ListedBrands, selectBrands, withBrands, writeBrands } from './brands.ts'
import { listTogether } from './changes.ts'
import { type CopySize, commit } from './commit.ts'
import { CommandError, DiffersError, StoreError } from './errors.ts'
import { renewColumns } from './keep-days.ts'
import { type Base, readBase } from './manifest.ts'
import type { Progress } from './progress.ts'
import { type BrandCopy, openCopy, writeState } from './state.ts'
import type { Store } from './store.ts'
import { syncBrand } from './sync-brand.ts'

export type Sync = {
  readonly api: ExportApi
  readonly store: Store
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

/** What a sync has done. */
export type Synced = {
  /** How many brands had changes. */
  readonly changed: number
  /** Whether all that the copy has was compared, and not only a part that was asked for. */
  readonly isWhole: boolean
  /** What was compared has every change that was committed before this time; null when the service does not know. */
  readonly asOf: string | null
  readonly size: CopySize
}

type Open = { readonly brand: Brand; readonly copy: BrandCopy }

/**
 * Brings a copy up to date, until the service lists no change. `wanted` are ids or names of brands. Throws `CommandError`
 * when another sync writes it, and `DiffersError` when brands failed.
 */
export function sync(options: Sync, wanted: readonly string[] | undefined): Promise<Synced> {
  const changed = new Set<string>()
  return options.store.exclusively(() =>
    withBrands(options.api, (brands) => syncBrands(options, { ...brands, wanted, changed })),
  )
}

type Work = ListedBrands & {
  readonly wanted: readonly string[] | undefined
  /** Receives the ids of brands that had changes. */
  readonly changed: Set<string>
}

/** Syncs as the next run would, when the brands were listed again. Throws `BrandsMoved` when they have to be. */
async function syncBrands(options: Sync, { listed, brandsDigest, wanted, changed }: Work): Promise<Synced> {
  const { store, progress, concurrency = 4 } = options
  const base = await readBase(store)
  const selected = selectBrands(listed, wanted)
  for (const brandId of Object.keys(base.manifest.states)) {
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
  const prepared = await inParallel(selected, concurrency, async (brand) => {
    const copy = await attempt(brand, prepareCopy(options, base, brand.id))
    return copy === undefined ? [] : [{ brand, copy }]
  })
  const opened = prepared.flat()
  const brands = await writeBrands(base, listed)
  let current: readonly Open[] = opened
  let asOf: string | null = null
  for (let isChanged = true; isChanged; ) {
    const together = await listTogether(
      { ...options, brandsDigest },
      current.map(({ copy }) => copy),
    )
    const outcomes = await inParallel(current, concurrency, ({ brand, copy }) =>
      attempt(brand, syncBrand(options, copy, together)),
    )
    for (const [index, { brand }] of current.entries()) if (outcomes[index]?.isChanged) changed.add(brand.id)
    current = current.filter((_, index) => outcomes[index] !== undefined)
    isChanged = outcomes.some((outcome) => outcome?.isChanged)
    asOf = earliest(outcomes.map((outcome) => outcome?.asOf ?? null))
  }
  const copies = current.map(({ copy }) => copy)
  const failed = opened.map(({ copy }) => copy).filter((copy) => !copies.includes(copy))
  const size = await commit(base, { brands, current: copies, failed })
  if (failures.length === 0) {
    const isWhole = wanted === undefined && hasAll(options, base, copies)
    return { changed: changed.size, isWhole, asOf, size }
  }
  const others = current.length > 0 ? ' Other brands are up to date.' : ''
  throw new DiffersError(`Not up to date: ${failures.join(' ')}${others}`)
}

/** Whether a run covers all days of all brands that a copy had before. */
const hasAll = (
  { fromDate, toDate, endpoints }: Sync,
  { manifest }: Base,
  copies: readonly BrandCopy[],
): boolean =>
  [fromDate, toDate, endpoints].every((bound) => bound === undefined) &&
  Object.keys(manifest.states).every((brandId) => copies.some((copy) => copy.brandId === brandId))

/** Returns the first of some times; null when one is unknown, or there are none. */
const earliest = (times: readonly (string | null)[]): string | null =>
  times.includes(null) ? null : ([...times].sort()[0] ?? null)

/** Opens the copy of a brand. Its files have the columns of this version. */
async function prepareCopy(options: Sync, base: Base, brandId: string): Promise<BrandCopy> {
  const copy = await openCopy(base, brandId, options)
  // Before its first file: files without any state are those of a copy whose manifest was lost.
  if (base.version === undefined && !copy.isStored) await writeState(copy)
  await renewColumns(copy)
  return copy
}

/** Whether other brands can succeed nevertheless. */
const isOfBrand = (error: unknown): error is Error =>
  (error instanceof CommandError && !(error instanceof StoreError)) ||
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
