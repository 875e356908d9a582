import { isDeepStrictEqual } from 'node:util'
import type { ExportApi } from '../src/index.ts'
import { hasBrands } from './brands.ts'
import { type Changes, dayKey, isNeeded, listAlone } from './changes.ts'
import { addRow, describeDifferences, type SumsByDay } from './day-sums.ts'
import { DAY_MS, monthOf } from './days.ts'
import { sha256OfFile } from './hash.ts'
import { type Base, filesByEndpoint, MANIFEST, readBase } from './manifest.ts'
import { hasColumns, readParquet } from './parquet.ts'
import { isOwn } from './paths.ts'
import type { Progress } from './progress.ts'
import { type BrandCopy, type MonthState, readCopy, readState, requireBrands } from './state.ts'
import type { Store } from './store.ts'
import { METRICS } from './streams.ts'

/** What differs from the service, or from what sync wrote. */
export type Difference = {
  readonly path: string
  readonly date?: string
  readonly message: string
  /** What sync can fetch again, unless it is a file that sync did not write. */
  readonly file?: BrandFile
}

/** A file in the state of a brand, and the first day that the plan reaches; null when the key does not read the brand. */
export type BrandFile = {
  readonly brandId: string
  readonly name: string
  readonly fromDate: string | null
}

/** How much was compared. */
export type Compared = { files: number; rows: number; days: number }

export type Verification = {
  readonly api: ExportApi
  readonly store: Store
  readonly progress: Progress
  /** Reads the rows of all files. Otherwise, those of files with the hash of the state are trusted. */
  readonly full: boolean
  /** Counts what is compared. */
  readonly compared?: Compared
}

/** Compares a copy with the service, file by file and day by day. Throws `CommandError` when there is no copy. */
export async function* verify(options: Verification): AsyncGenerator<Difference> {
  const verification = { compared: { files: 0, rows: 0, days: 0 }, ...options }
  const { api, store, progress, compared } = verification
  const base = await readBase(store)
  const { manifest, listed } = base
  const brandIds = requireBrands(base)
  const brands = await api.brands()
  const brandsPath = manifest.brands?.path ?? 'endpoint=brands'
  compared.files += 1
  if (!(await hasBrands(base, brands))) yield { path: brandsPath, message: 'The brands differ.' }
  for (const { id, name } of brands) {
    if (brandIds.includes(id)) continue
    progress.notice('brand_missing', `${store.location} does not have ${name}.`, { brand: id }, 'warn')
  }
  const committed = [brandsPath]
  const known = new Set(manifest.replaced)
  for (const brandId of brandIds) {
    const copy = await readCopy(base, brandId, manifest.states[brandId])
    for (const { path } of Object.values(copy.state.files)) committed.push(path)
    const isReadable = brands.some(({ id }) => id === brandId)
    yield* verifyBrand(verification, base, { copy, isReadable })
  }
  if (!isDeepStrictEqual(manifest.files, filesByEndpoint(committed)))
    yield { path: MANIFEST, message: 'The files are not those of the states.' }
  for (const [brandId, path] of Object.entries(manifest.unfinished)) {
    const file = { brandId, name: '', fromDate: '' }
    if (!brandIds.includes(brandId))
      yield { path, message: 'The first sync of this brand has not ended.', file }
    const { files = {} } = (await readState(store, path)) ?? {}
    for (const unfinished of Object.values(files)) known.add(unfinished.path)
  }
  for (const path of committed) known.add(path)
  for (const path of listed.keys()) {
    if (!/\.parquet$/i.test(path) || known.has(path)) continue
    // Another sync may be running, or have lost against one. Its files are removed by a later one.
    if (!(store.isShared && isOwn(path))) yield { path, message: 'Sync did not write this file.' }
  }
}

async function* verifyBrand(
  { api, progress, full, compared }: Required<Verification>,
  base: Base,
  { copy, isReadable }: { readonly copy: BrandCopy; readonly isReadable: boolean },
): AsyncGenerator<Difference> {
  const { brandId, state } = copy
  const listing = { api, fromDate: firstDay(copy), toDate: state.scope.toDate }
  const all = { brandId, state: { ...state, token: null }, received: null }
  // Before the files are read: what changes meanwhile is not listed.
  const changes = isReadable ? await listAlone(listing, all) : undefined
  if (full) for (const { rows } of changes?.days ?? []) progress.expect(rows)
  if (!copy.isStored) {
    const path = copy.path ?? MANIFEST
    yield {
      path,
      message: 'The state is missing.',
      file: { brandId, name: '', fromDate: changes?.fromDate ?? null },
    }
  }
  const read: SumsByDay = new Map()
  const trusted = new Set<string>()
  for (const [name, content] of Object.entries(state.files)) {
    const { path } = content
    const { problem, rows, isIntact } = await readFile(read, base, { name, brandId, content, full })
    progress.receive(rows)
    compared.files += 1
    compared.rows += rows
    if (isIntact && !full) trusted.add(name)
    const fromDate = changes?.fromDate ?? null
    if (problem !== undefined) yield { path, message: problem, file: { brandId, name, fromDate } }
  }
  if (changes === undefined) return
  compared.days += changes.days.length
  yield* differentDays({ read, trusted }, copy, changes)
  const last = changes.days.reduce((latest, { changedAt }) => (changedAt > latest ? changedAt : latest), '')
  if (full && isFuture(state.token, last)) {
    const path = copy.path ?? MANIFEST
    const message = `The token ${state.token} is later than every change.`
    yield { path, message, file: { brandId, name: '', fromDate: changes.fromDate } }
  }
}

/** The first day that the copy may have rows of. */
const firstDay = ({ state }: BrandCopy): string | undefined =>
  [state.fromDate, ...Object.values(state.files).map(({ from }) => from)].sort().at(0) || undefined

/** Whether a token is none of the service's. It can be that of another brand, and a little ahead of this clock. */
const isFuture = (token: string | null, last: string): boolean =>
  token !== null && token > last && token > new Date(Date.now() + DAY_MS).toISOString()

/** The sums of files that were read, and the names of files that were not, since their hash is that of the state. */
type Stored = { readonly read: SumsByDay; readonly trusted: ReadonlySet<string> }

/** Compares each day with what the service lists. */
function* differentDays(
  { read, trusted }: Stored,
  copy: BrandCopy,
  { days, fromDate }: Changes,
): Generator<Difference> {
  const { brandId, state } = copy
  const different = (endpoint: string, date: string, what: string): Difference => {
    const name = `${endpoint}/${monthOf(date)}`
    const message = `${endpoint} ${date}: ${what}`
    const path = state.files[name]?.path ?? `endpoint=${endpoint}/brand=${brandId}`
    return { path, date, message, file: { brandId, name, fromDate } }
  }
  for (const listed of days) {
    const { endpoint, date, changedAt } = listed
    const stream = METRICS.find((metric) => metric.endpoint === endpoint)
    // Later versions of the service can have more endpoints.
    if (stream === undefined || !(state.scope.endpoints?.includes(endpoint) ?? true)) continue
    // A file can begin before the first day of the last sync.
    const { from = state.fromDate } = state.files[`${endpoint}/${monthOf(date)}`] ?? {}
    if (date < from && date < state.fromDate) continue
    const cause = changedAt > (state.token ?? '') ? ' It changed after the sync.' : ''
    if (trusted.has(`${endpoint}/${monthOf(date)}`)) {
      if (isNeeded(state, listed)) yield different(endpoint, date, `it is not the listed day.${cause}`)
      continue
    }
    const differences = describeDifferences(read.get(dayKey(listed)), listed, stream)
    read.delete(dayKey(listed))
    if (differences !== '') yield different(endpoint, date, `${differences}.${cause}`)
  }
  for (const [day, { rows }] of read) {
    const [endpoint = '', date = ''] = day.split('/')
    if (date >= fromDate) yield different(endpoint, date, `rows ${rows} instead of 0.`)
  }
}

type MonthFile = {
  readonly name: string
  readonly brandId: string
  readonly content: MonthState
  readonly full: boolean
}

type FileContent = { readonly rows: number; readonly isIntact: boolean; readonly problem?: string }

/** Adds the rows of a file to the sums of their days. Returns what is wrong with the file, if anything. */
async function readFile(
  read: SumsByDay,
  { store, listed }: Base,
  { name, brandId, content, full }: MonthFile,
): Promise<FileContent> {
  const { size } = listed.get(content.path) ?? {}
  if (size === undefined) return { rows: 0, isIntact: false, problem: 'The file is missing.' }
  if (size < 0) return { rows: 0, isIntact: false, problem: 'It is no file.' }
  const file = await store.open(content.path)
  const isIntact = (await sha256OfFile(file)) === content.sha256
  if (isIntact && !full) return { rows: 0, isIntact }
  const [endpoint, month] = name.split('/')
  const stream = METRICS.find((metric) => metric.endpoint === endpoint)
  if (stream === undefined) return { rows: 0, isIntact, problem: `This version does not know ${endpoint}.` }
  let rows = 0
  let hasForeign = false
  try {
    if (!(await hasColumns(file, stream.columns)))
      return { rows, isIntact, problem: 'The file has other columns than sync writes.' }
    for await (const row of readParquet(file, stream.columns)) {
      const date = String(row.date)
      if (row.brand_id !== brandId || monthOf(date) !== month) hasForeign = true
      else addRow(read, stream, row)
      rows += 1
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    return { rows, isIntact, problem: `The file cannot be read. ${reason}.` }
  }
  if (hasForeign) return { rows, isIntact, problem: 'The file has rows of another brand or month.' }
  return isIntact
    ? { rows, isIntact }
    : { rows, isIntact, problem: 'The file is not the one that sync wrote.' }
}
