import { existsSync } from 'node:fs'
import type { ExportApi } from '../src/index.ts'
import { brandsPath, hasBrands } from './brands.ts'
import { type Changes, dayKey, listAlone } from './changes.ts'
import { addRow, describeDifferences, type SumsByDay } from './day-sums.ts'
import { monthOf } from './days.ts'
import { parquetFiles, sha256 } from './folder.ts'
import { readParquet } from './parquet.ts'
import type { Progress } from './progress.ts'
import { type BrandCopy, type MonthState, monthPath, readCopy, requireBrands } from './state.ts'
import { METRICS } from './streams.ts'

/** What differs from the service, or from what sync wrote. */
type Difference = { readonly path: string; readonly date?: string; readonly message: string }

type Verification = { readonly api: ExportApi; readonly folder: string; readonly progress: Progress }

/** Compares a folder with the service, file by file and day by day. Throws `CommandError` when it has no copy. */
export async function* verify(verification: Verification): AsyncGenerator<Difference> {
  const { api, folder, progress } = verification
  const brandIds = await requireBrands(folder)
  const brands = await api.brands()
  const brandsFile = brandsPath(folder)
  if (!(await hasBrands(brandsFile, brands))) yield { path: brandsFile, message: 'The brands differ.' }
  for (const { id, name } of brands) {
    if (brandIds.includes(id)) continue
    progress.notice('brand_missing', `The folder does not have ${name}.`, { brand: id }, 'warn')
  }
  const known = new Set([brandsFile])
  for (const brandId of brandIds) {
    const copy = await readCopy({ folder, brandId })
    for (const file of Object.keys(copy.state.files)) known.add(monthPath(copy, file))
    yield* verifyBrand(verification, copy, { isReadable: brands.some(({ id }) => id === brandId) })
  }
  for (const path of await parquetFiles(folder)) {
    if (!known.has(path)) yield { path, message: 'Sync did not write this file.' }
  }
}

async function* verifyBrand(
  { api, progress }: Verification,
  copy: BrandCopy,
  { isReadable }: { readonly isReadable: boolean },
): AsyncGenerator<Difference> {
  const { brandId, state } = copy
  const listing = { api, fromDate: state.fromDate || undefined, toDate: state.scope?.toDate }
  const all = { brandId, state: { ...state, token: null }, received: null }
  // Before the files are read: what changes meanwhile is not listed.
  const changes = isReadable ? await listAlone(listing, all) : undefined
  for (const { rows } of changes?.days ?? []) progress.expect(rows)
  const stored: SumsByDay = new Map()
  for (const [file, content] of Object.entries(state.files)) {
    const path = monthPath(copy, file)
    const { problem, rows } = await addFile(stored, { path, file, brandId, content })
    progress.receive(rows)
    if (problem !== undefined) yield { path, message: problem }
  }
  if (changes !== undefined) yield* differentDays(stored, copy, changes)
}

/** Compares the sums of each day with those that the service lists. */
function* differentDays(
  stored: SumsByDay,
  copy: BrandCopy,
  { days, fromDate }: Changes,
): Generator<Difference> {
  const pathOf = (endpoint: string, date: string) => monthPath(copy, `${endpoint}/${monthOf(date)}`)
  for (const listed of days) {
    const { endpoint, date, changedAt } = listed
    const stream = METRICS.find((metric) => metric.endpoint === endpoint)
    // Later versions of the service can have more endpoints.
    if (stream === undefined || !(copy.state.scope?.endpoints?.includes(endpoint) ?? true)) continue
    const day = dayKey(listed)
    const differences = describeDifferences(stored.get(day), listed, stream)
    stored.delete(day)
    if (differences === '') continue
    const cause = changedAt > (copy.state.token ?? '') ? ' It changed after the sync.' : ''
    yield { path: pathOf(endpoint, date), date, message: `${endpoint} ${date}: ${differences}.${cause}` }
  }
  for (const [day, { rows }] of stored) {
    const [endpoint = '', date = ''] = day.split('/')
    if (date < fromDate) continue
    const message = `${endpoint} ${date}: rows ${rows} instead of 0.`
    yield { path: pathOf(endpoint, date), date, message }
  }
}

type MonthFile = {
  readonly path: string
  readonly file: string
  readonly brandId: string
  readonly content: MonthState
}

/** Adds the rows of a file to the sums of their days. Returns what is wrong with the file, if anything. */
async function addFile(
  stored: SumsByDay,
  { path, file, brandId, content }: MonthFile,
): Promise<{ rows: number; problem?: string }> {
  if (!existsSync(path)) return { rows: 0, problem: 'The file is missing.' }
  const isIntact = (await sha256(path)) === content.sha256
  const [endpoint, month] = file.split('/')
  const stream = METRICS.find((metric) => metric.endpoint === endpoint)
  if (stream === undefined) return { rows: 0, problem: `This version does not know ${endpoint}.` }
  let rows = 0
  let hasForeign = false
  try {
    for await (const row of readParquet(path, stream.columns)) {
      const date = String(row.date)
      if (row.brand_id !== brandId || monthOf(date) !== month) hasForeign = true
      else addRow(stored, stream, row)
      rows += 1
    }
  } catch (error) {
    return { rows, problem: `The file cannot be read. ${error instanceof Error ? error.message : error}.` }
  }
  if (hasForeign) return { rows, problem: 'The file has rows of another brand or month.' }
  return isIntact ? { rows } : { rows, problem: 'The file is not the one that sync wrote.' }
}
