import { isDeepStrictEqual } from 'node:util'
import { DAY_MS } from '../../../site/charts/days.ts'
import {
  ConnectionError,
  type ExportApi,
  ExportApiError,
  ForbiddenError,
  RateLimitError,
  ServerError,
  UnauthorizedError,
} from '../src/index.ts'
import { createBatch } from './batch.ts'
import { brandsActions, type ListedBrands, startingOver } from './brands.ts'
import { addCauses, type ChangedDays } from './causes.ts'
import { type BrandRun, type Changes, listAlone, listTogether } from './changes.ts'
import { brandsOf, type Copy, type CopySize, openCopy, sizeOf, tablesOf } from './copy.ts'
import { type Coverage, coverageOf, endpointsOf, nextCoverage, scopeOf, startsOf } from './coverage.ts'
import type { AddFile } from './delta/log.ts'
import {
  commit,
  isCurrent,
  removal,
  removeExpired,
  removeLeft,
  removeLoose,
  type Table,
} from './delta/table.ts'
import { CommandError, DiffersError, MovedError, StoreError } from './errors.ts'
import { fetchDays, planFetches, type Source } from './fetch-days.ts'
import { daysOf } from './files.ts'
import { inParallel } from './in-parallel.ts'
import { type Check, inspectFile } from './inspect.ts'
import type { Progress } from './progress.ts'
import { type Asked, type Scope, WHOLE } from './scope.ts'
import type { Store } from './store.ts'
import { listOf } from './text.ts'

export type Sync = Omit<Asked, 'wanted'> & {
  readonly api: ExportApi
  readonly store: Store
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
  /** Why days changed of brands that were copied before. */
  readonly causes: ChangedDays
  /** Whether the copy has no other rows than those of the service, and all of them. */
  readonly isWhole: boolean
  /** What was compared has every change that was committed before this time; null when the service does not know. */
  readonly asOf: string | null
  readonly size: CopySize
  /** The name of a table. */
  readonly table: string
}

/**
 * Brings a copy up to date: it then equals the service as of a time. `wanted` are ids or names of brands. Throws
 * `CommandError` when other syncs write it all the time, `DiffersError` when brands failed or days are lost, and `UsageError`
 * for a part of what the copy has.
 */
export function sync(options: Sync, wanted: readonly string[] | undefined): Promise<Synced> {
  const run = { wanted, changed: new Set<string>(), causes: new Map() }
  return startingOver(options.api, (brands) => openAndSync(options, { ...brands, ...run }))
}

/** How many brands or files the last line names. The lines before have all. */
const MOST_NAMED = 10

type Work = ListedBrands & {
  readonly wanted: readonly string[] | undefined
  /** Receives the ids of brands that had changes. */
  readonly changed: Set<string>
  readonly causes: ChangedDays
}

/** Throws `MovedError` when the key reads other brands meanwhile, or another sync commits. */
async function openAndSync(options: Sync, work: Work): Promise<Synced> {
  const copy = await openCopy(options.store)
  // Files that no version has go again, also when the process is stopped.
  const clean = () => Promise.all(tablesOf(copy).map(removeLoose))
  process.once('exit', clean)
  try {
    return await syncBrands(options, copy, work)
  } finally {
    process.off('exit', clean)
    await clean().catch(() => {})
  }
}

async function syncBrands(options: Sync, copy: Copy, work: Work): Promise<Synced> {
  const { store, progress, check, keepDays = 7 } = options
  const { listed, brandsDigest, wanted, changed, causes } = work
  const scope = scopeOf(copy, listed, { ...options, wanted })
  const now = await store.now(copy.brands.name)
  const times = { now, expiry: now - keepDays * DAY_MS }
  // First what needs no room on a full disk.
  for (const table of tablesOf(copy)) await removeExpired(table, times.expiry)
  for (const table of tablesOf(copy)) await removeLeft(table, times)
  const before = coverageOf(copy)
  const storeCoverage = async (coverage: Coverage) => {
    const actions = await brandsActions(copy.brands, listed, { coverage, check })
    if (actions.length > 0 || !isCurrent(copy.brands))
      await commit(copy.brands, 'WRITE', { actions, ...times })
  }
  const altered = await findAltered(copy, options)
  const removed = { ...before?.removed, ...Object.fromEntries(altered.map(({ path, days }) => [path, days])) }
  // Whatever ends this sync, the next one keeps all rows equal, and says what is lost.
  if (altered.length > 0 || !isDeepStrictEqual(before?.scope, scope))
    await storeCoverage({ ...nextCoverage(copy, { scope, reached: [], removed }), versions: '' })
  for (const table of copy.metrics.values()) {
    const actions = altered.filter((file) => file.table === table).map(({ file }) => removal(file))
    const isOld = table.snapshot.version >= 0 && !isCurrent(table)
    if (actions.length > 0 || isOld) await commit(table, 'RESTORE', { actions, ...times })
  }
  const gone = [...brandsOf(copy)].filter((brandId) => !listed.some(({ id }) => id === brandId))
  for (const brand of gone) {
    const message = `The key no longer reads brand ${brand}. Its rows stay as they are.`
    progress.notice('brand_gone', message, { brand }, 'warn')
  }
  const batch = createBatch(copy.metrics, times)
  const failures: string[] = []
  const run = { ...options, scope, copy, batch, changed, causes, brandsDigest, failures, received: null }
  const brands = startsOf(run, listed)
  // What was fetched need not be fetched again.
  await syncAll(run, brands).finally(() => batch.flush(true))
  const reached = brands.filter(({ asOf }) => asOf !== undefined)
  const problem = failures.length === 0 ? '' : `Not up to date: ${listOf(failures, MOST_NAMED)}.`
  // Nothing more is known about the copy than before.
  if (problem !== '' && reached.length === 0) throw new DiffersError(problem)
  for (const endpoint of endpointsOf(scope)) {
    const table = copy.metrics.get(endpoint)
    if (table && table.snapshot.version < 0) await commit(table, 'CREATE TABLE', { actions: [], ...times })
  }
  await storeCoverage(nextCoverage(copy, { scope, reached, removed: problem === '' ? {} : removed }))
  const firstDays = new Map(brands.map(({ id, fromDate }) => [id, fromDate]))
  const lost = Object.entries(removed).flatMap(([path, days]) =>
    Object.entries(days).some(([id, date]) => date < (firstDays.get(id) ?? '9999-99')) ? [path] : [],
  )
  const problems = [
    lost.length > 0 && `Days that the key does not reach are lost with ${listOf(lost, MOST_NAMED)}.`,
    problem !== '' && `${problem} Other brands are up to date.`,
  ].filter(Boolean)
  if (problems.length > 0) throw new DiffersError(problems.join(' '))
  const isWhole = isDeepStrictEqual(scope, WHOLE) && gone.length === 0
  const asOf = brands.map(({ asOf }) => asOf ?? '').sort()[0] || null
  const [endpoint = ''] = endpointsOf(scope)
  const { name: table } = copy.metrics.get(endpoint) ?? copy.brands
  return { changed: changed.size, causes, isWhole, asOf, size: sizeOf(copy), table }
}

/** A file that is not what the log of its table describes, and the first day of each of its brands. */
type Altered = {
  readonly table: Table
  readonly file: AddFile
  readonly path: string
  readonly days: Readonly<Record<string, string>>
}

async function findAltered(copy: Copy, { check = 'size', progress }: Sync): Promise<Altered[]> {
  const altered: Altered[] = []
  for (const table of copy.metrics.values())
    for (const file of table.snapshot.files.values()) {
      const problem = await inspectFile(table, file, check)
      if (problem === '') continue
      const path = `${table.name}/${file.path}`
      const firsts = Object.entries(daysOf(file)).map(([id, dates]) => [
        id,
        Object.keys(dates).sort()[0] ?? '',
      ])
      altered.push({ table, file, path, days: Object.fromEntries(firsts) })
      const message = `${path}: ${problem} Its days are fetched again, as far as the key reaches.`
      progress.notice('file_removed', message, { path }, 'warn')
    }
  return altered
}

type Run = Sync & {
  readonly scope: Scope
  readonly copy: Copy
  /** The greatest `changed_at` that was received: lists that are requested later have all changes up to it. */
  received: string | null
}

/** `failures` receives what failed of a brand. */
type Job = Run & Source & Pick<Work, 'changed' | 'causes' | 'brandsDigest'> & { readonly failures: string[] }

async function syncAll(run: Job, brands: readonly BrandRun[]): Promise<void> {
  const together = await listTogether({ ...run, ...run.scope }, brands)
  for (const { since } of together.values()) run.received = since
  const syncSome = (some: readonly BrandRun[]) =>
    inParallel(some, run.concurrency ?? 4, (brand) =>
      syncBrand(run, brand, together.get(brand.id)).catch((error) => {
        if (!isOfBrand(error)) throw error
        const message = `${brand.name} is not up to date: ${error.message}`
        run.progress.notice('brand_failed', message, { brand: brand.id }, 'error')
        run.failures.push(`${brand.name}: ${error.message.replace(/\.$/, '')}`)
      }),
    )
  await syncSome(brands)
  // Of a brand without changes, what the others received says up to when it has none.
  await syncSome(brands.filter(({ since, asOf }) => since === null && asOf !== undefined))
}

/** Errors of the service, the key or the copy. Each brand would wait ten attempts for the same. */
const OF_ALL = [
  ...[UnauthorizedError, ForbiddenError, RateLimitError, ServerError, ConnectionError],
  ...[StoreError, MovedError],
]

const isOfBrand = (error: unknown): error is Error =>
  (error instanceof CommandError || error instanceof ExportApiError) &&
  !OF_ALL.some((kind) => error instanceof kind)

/** How often the days of a brand are fetched that were not as listed. */
const MOST_ROUNDS = 10

/**
 * Lists the changes of a brand and fetches its days, until all days of a list are proven. The copy then has all changes up
 * to the time of that list. Later ones are left to the next sync: there may always be some.
 */
async function syncBrand(run: Job, brand: BrandRun, listed: Changes | undefined): Promise<void> {
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    const changes = (round === 1 && listed) || (await listAgain(run, brand))
    const plans = planFetches(run, brand, changes)
    if (plans.length > 0) run.changed.add(brand.id)
    if (brand.since !== null && !changes.isFull)
      for (const day of changes.days) addCauses(run.causes, day, brand.since)
    const { since, fromDate, asOf } = changes
    if (await fetchDays(run, brand, plans)) return void Object.assign(brand, { since, fromDate, asOf })
  }
  throw new CommandError(
    `${brand.problem}, in the last of ${MOST_ROUNDS} attempts. Check what alters responses between the service and this machine.`,
  )
}

/** Lists the changes of a brand alone. */
export async function listAgain(run: Run, brand: BrandRun): Promise<Changes> {
  const changes = await listAlone({ api: run.api, ...run.scope }, brand, run.received)
  if ((changes.since ?? '') > (run.received ?? '')) run.received = changes.since
  return changes
}
