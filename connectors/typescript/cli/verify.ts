import type { Brand, ExportApi } from '../src/index.ts'
import { hasBrands, startingOver } from './brands.ts'
import { type Changes, listAlone } from './changes.ts'
import { brandsOf, type Copy, requireCopy, tablesOf } from './copy.ts'
import { type Coverage, coverageOf } from './coverage.ts'
import { DAY_MS } from './days.ts'
import { isCurrent } from './delta/table.ts'
import { daysOf, proofOf, statisticsOf } from './files.ts'
import { inspectFile } from './inspect.ts'
import type { Progress } from './progress.ts'
import type { Store } from './store.ts'

/** What differs from the service, or from what sync wrote. */
export type Difference = {
  readonly path: string
  readonly brand?: string
  readonly date?: string
  readonly message: string
}

/** How much was compared. */
export type Compared = { files: number; rows: number; days: number }

export type Verification = {
  readonly api: ExportApi
  readonly store: Store
  readonly progress: Progress
  /** Reads the rows of all files. Otherwise, those of files with the hash of the log are trusted. */
  readonly full: boolean
  /** Counts what is compared. */
  readonly compared?: Compared
}

/** Compares a copy with the service, day by day. Returns what differs. Throws `CommandError` when there is no copy. */
export const verify = (options: Verification): Promise<readonly Difference[]> =>
  startingOver(options.api, async ({ listed }) => {
    const { store, progress, compared = { files: 0, rows: 0, days: 0 } } = options
    const copy = await requireCopy(store)
    const coverage = coverageOf(copy)
    if (coverage === undefined) return [{ path: store.location, message: 'The first sync has not ended.' }]
    const hasRows = brandsOf(copy)
    const differences: Difference[] = []
    compared.files += 1
    if (!(await hasBrands(copy.brands, listed, 'hash')))
      differences.push({ path: 'brands', message: 'The brands differ.' })
    for (const table of tablesOf(copy))
      if (table.snapshot.version >= 0 && !isCurrent(table))
        differences.push({ path: table.name, message: 'The columns in its log are others.' })
    for (const [endpoint, { name }] of copy.metrics)
      if (coverage.versions[endpoint] === '')
        differences.push({ path: name, message: 'The sync that wrote it last has not ended.' })
    await inspectFiles({ ...options, compared }, copy, differences)
    for (const brand of listed) {
      const { id, name } = brand
      if (coverage.brandIds.includes(id)) {
        const changes = await listDays(options, coverage, id)
        compared.days += changes.days.length
        for (const difference of differentDays({ copy, coverage, changes, brand }))
          differences.push(difference)
      } else if (hasRows.has(id))
        differences.push({ path: store.location, message: `The sync of ${name} has not ended.` })
      else progress.notice('brand_missing', `${store.location} does not have ${name}.`, { brand: id }, 'warn')
    }
    return differences
  })

/** Adds the files that are not what the logs describe to the differences. */
async function inspectFiles(
  { full, progress, compared }: Required<Verification>,
  copy: Copy,
  differences: Difference[],
): Promise<void> {
  for (const table of copy.metrics.values()) {
    for (const file of table.snapshot.files.values()) {
      const { rows } = statisticsOf(file)
      if (full) progress.expect(rows)
      const problem = await inspectFile(table, file, full ? 'rows' : 'hash')
      compared.files += 1
      if (full) {
        progress.receive(rows)
        compared.rows += rows
      }
      if (problem !== '') differences.push({ path: `${table.name}/${file.path}`, message: problem })
    }
  }
}

/** Lists all days of a brand that a copy should have. */
function listDays({ api }: Verification, { fromDate, toDate }: Coverage, id: string): Promise<Changes> {
  return listAlone({ api, fromDate, toDate }, { id, since: null, fromDate: '' }, null)
}

type Comparison = {
  readonly copy: Copy
  readonly coverage: Coverage
  readonly changes: Changes
  readonly brand: Brand
}

/** Compares each day of a brand with what the service lists. */
function* differentDays(comparison: Comparison): Generator<Difference> {
  const { copy, coverage, changes, brand } = comparison
  for (const [endpoint, table] of copy.metrics) {
    const difference = (date: string, what: string): Difference => ({
      path: table.name,
      brand: brand.id,
      date,
      message: `${date} of ${brand.name}: ${what}`,
    })
    const stored = new Map<string, string>()
    for (const file of table.snapshot.files.values())
      for (const [date, proof] of Object.entries(daysOf(file)[brand.id] ?? {})) {
        if (stored.has(date)) yield difference(date, 'it is in two files.')
        stored.set(date, proof)
      }
    for (const listed of changes.days) {
      const { date, rows, digest, changedAt } = listed
      if (listed.endpoint !== endpoint) continue
      const proof = stored.get(date)
      stored.delete(date)
      // A narrower sync may have left it out.
      if (proof === undefined && (rows === 0 || coverage.versions[endpoint] === undefined)) continue
      if (proof === proofOf(listed)) continue
      const [actualRows = '0', actualDigest] = proof?.split(' ') ?? []
      const what =
        Number(actualRows) === rows
          ? `digest ${actualDigest} instead of ${digest}`
          : `rows ${actualRows} instead of ${rows}`
      const cause = changedAt > coverage.since ? ' It changed after the sync.' : ''
      yield difference(date, `${what}.${cause}`)
    }
    for (const [date, proof] of stored) {
      if (date < changes.fromDate || date > coverage.toDate) continue
      yield difference(date, `rows ${Number.parseInt(proof, 10)} instead of 0.`)
    }
  }
  const last = changes.days.reduce((latest, { changedAt }) => (changedAt > latest ? changedAt : latest), '')
  if (isFuture(coverage.since, last))
    yield { path: 'brands', message: `The stored since, ${coverage.since}, is later than every change.` }
}

/** Whether `since` is no `changed_at` of the service. It can be that of another brand, and a little ahead of this clock. */
const isFuture = (since: string, last: string): boolean =>
  since > last && since > new Date(Date.now() + DAY_MS).toISOString()
