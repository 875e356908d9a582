import {
  type Brand,
  type ExportApi,
  ExportApiError,
  ForbiddenError,
  UnauthorizedError,
} from '../src/index.ts'
import { type Batch, createBatch } from './batch.ts'
import { brandsActions, type ListedBrands, selectBrands, startingOver } from './brands.ts'
import { type Changes, listAlone, listTogether } from './changes.ts'
import { type Copy, type CopySize, openCopy, sizeOf, tablesOf } from './copy.ts'
import { type Coverage, coverageOf, endpointsOf, nextCoverage, startOf } from './coverage.ts'
import { DAY_MS } from './days.ts'
import type { Action } from './delta/log.ts'
import { commit, isCurrent, removal, vacuum } from './delta/table.ts'
import { CommandError, DiffersError, MovedError, StoreError } from './errors.ts'
import { type BrandRun, fetchDays, planFetches } from './fetch-days.ts'
import { inParallel } from './in-parallel.ts'
import { type Check, inspectFile } from './inspect.ts'
import type { Progress } from './progress.ts'
import type { Store } from './store.ts'

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
  /** Days for which replaced files stay. */
  readonly keepDays?: number | undefined
  /** How closely the files are looked at first. */
  readonly check?: Check
  /** Lists all days, not only those that changed. */
  readonly isFull?: boolean
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

/**
 * Brings a copy up to date, until the service lists no change. `wanted` are ids or names of brands. Throws `CommandError`
 * when other syncs write it all the time, and `DiffersError` when brands failed.
 */
export function sync(options: Sync, wanted: readonly string[] | undefined): Promise<Synced> {
  const changed = new Set<string>()
  return startingOver(options.api, (brands) => syncBrands(options, { ...brands, wanted, changed }))
}

type Work = ListedBrands & {
  readonly wanted: readonly string[] | undefined
  /** Receives the ids of brands that had changes. */
  readonly changed: Set<string>
}

const KEEP_DAYS = 7

/** Throws `MovedError` when the key reads other brands meanwhile, or another sync commits. */
async function syncBrands(options: Sync, { listed, brandsDigest, wanted, changed }: Work): Promise<Synced> {
  const { store, progress, keepDays = KEEP_DAYS } = options
  const now = Date.now()
  const expiry = now - keepDays * DAY_MS
  const copy = await openCopy(store)
  const selected = selectBrands(listed, wanted)
  for (const table of tablesOf(copy)) await vacuum(table, expiry)
  await dropAltered(copy, options, expiry)
  const before = coverageOf(copy)
  reportGone([...(before?.brandIds ?? []), ...(before?.goneIds ?? [])], listed, progress)
  const batch = createBatch(copy.metrics, { now, expiry })
  const run = { ...options, copy, batch, brandsDigest, changed, failures: [] as string[] }
  const brands = selected.map((brand) => startBrand(options, before, brand))
  const { current, asOf } = await syncUntilEqual(run, brands).catch(async (error) => {
    // What was fetched need not be fetched again.
    await batch.flush(true).catch(() => {})
    throw error
  })
  await batch.flush(true)
  const { failures } = run
  // Nothing more is known about the copy than before.
  if (failures.length > 0 && current.length === 0)
    throw new DiffersError(`Not up to date: ${failures.join(' ')}`)
  for (const endpoint of endpointsOf(options)) {
    const table = copy.metrics.get(endpoint)
    if (table && table.snapshot.version < 0) await commit(table, 'CREATE TABLE', { actions: [], expiry })
  }
  const failed = brands.filter((brand) => !current.includes(brand)).map(({ id }) => id)
  const ids = listed.map(({ id }) => id)
  const coverage = nextCoverage(copy, before, options, { reached: current, failed, listed: ids })
  const actions = await brandsActions(copy.brands, listed, { coverage, check: options.check })
  if (actions.length > 0 || !isCurrent(copy.brands)) await commit(copy.brands, 'WRITE', { actions, expiry })
  if (failures.length > 0)
    throw new DiffersError(`Not up to date: ${failures.join(' ')} Other brands are up to date.`)
  const { fromDate, toDate, endpoints } = options
  const isWhole =
    [wanted, fromDate, toDate, endpoints].every((bound) => bound === undefined) &&
    coverage.goneIds.length === 0
  return { changed: changed.size, isWhole, asOf, size: sizeOf(copy) }
}

/** Removes files from a copy that are not what its logs describe. Their days are then listed again. */
async function dropAltered(copy: Copy, { check = 'size', progress }: Sync, expiry: number): Promise<void> {
  for (const table of copy.metrics.values()) {
    const actions: Action[] = []
    for (const file of table.snapshot.files.values()) {
      const problem = await inspectFile(table, file, check)
      if (problem === '') continue
      actions.push(removal(file))
      const path = `${table.name}/${file.path}`
      progress.notice('file_removed', `${path}: ${problem} Its days are fetched again.`, { path }, 'warn')
    }
    const isOld = table.snapshot.version >= 0 && !isCurrent(table)
    if (actions.length > 0 || isOld) await commit(table, 'RESTORE', { actions, expiry })
  }
}

function reportGone(known: readonly string[], listed: readonly Brand[], progress: Progress): void {
  for (const brandId of known) {
    if (listed.some(({ id }) => id === brandId)) continue
    const message = `The key no longer reads brand ${brandId}. Its rows stay as they are.`
    progress.notice('brand_gone', message, { brand: brandId }, 'warn')
  }
}

/** Returns where the copy of a brand stands. */
export function startBrand(options: Sync, coverage: Coverage | undefined, { id, name }: Brand): BrandRun {
  const { since, fromDate } = startOf(options.isFull ? undefined : coverage, id, options)
  return { id, name, since, fromDate, attempts: new Map() }
}

type Run = Sync & {
  readonly copy: Copy
  readonly batch: Batch
  readonly brandsDigest: string
  readonly changed: Set<string>
  /** Receives what failed of a brand. */
  readonly failures: string[]
}

/** Lists and fetches until nothing is needed. Returns the brands that did not fail, and what they have. */
async function syncUntilEqual(run: Run, brands: readonly BrandRun[]) {
  let current = brands
  for (;;) {
    const together = await listTogether(run, current)
    const rounds = await inParallel(current, run.concurrency ?? 4, (brand) =>
      syncBrand(run, brand, together).catch((error) => reportFailure(run, brand, error)),
    )
    current = current.filter((_, index) => rounds[index] !== undefined)
    const asOf = rounds.map((round) => round?.asOf ?? null)
    if (!rounds.some((round) => round?.isChanged)) return { current, asOf: earliest(asOf) }
  }
}

/** Returns the first of some times; null when one is unknown, or there are none. */
const earliest = (times: readonly (string | null)[]): string | null =>
  times.includes(null) ? null : ([...times].sort()[0] ?? null)

/** Returns nothing for an error that other brands can survive. */
function reportFailure({ failures, progress }: Run, { id, name }: BrandRun, error: unknown): undefined {
  if (!isOfBrand(error)) throw error
  failures.push(`${name}: ${error.message}`)
  progress.notice('brand_failed', `${name} is not up to date: ${error.message}`, { brand: id }, 'error')
}

const isOfBrand = (error: unknown): error is Error =>
  (error instanceof CommandError && !(error instanceof StoreError || error instanceof MovedError)) ||
  (error instanceof ExportApiError &&
    !(error instanceof UnauthorizedError || error instanceof ForbiddenError))

/** The changes of brands that were listed together. */
type Together = ReadonlyMap<string, Changes>

/** Whether the copy lacked rows of a brand, and the time up to which its list had all changes. */
type Round = { readonly isChanged: boolean; readonly asOf: string | null }

/** Brings a brand up to date with one list of its changes. */
async function syncBrand(run: Run, brand: BrandRun, together: Together): Promise<Round> {
  const changes = await listChanges(run, brand, together)
  const plans = planFetches(run, brand, changes)
  if (plans.length > 0) run.changed.add(brand.id)
  // Otherwise, the next list has the same days, or their next change.
  if (!(await fetchDays(run, brand, plans))) return { isChanged: true, asOf: null }
  brand.since = changes.since
  brand.fromDate = changes.fromDate
  return { isChanged: plans.length > 0, asOf: changes.asOf }
}

/** Returns the changed days of a brand. */
export async function listChanges(options: Sync, brand: BrandRun, together: Together): Promise<Changes> {
  const [anyList] = together.values()
  return together.get(brand.id) ?? listAlone(options, brand, anyList?.since ?? null)
}
