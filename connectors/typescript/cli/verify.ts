import { addDays } from '../../../site/charts/days.ts'
import type { ChangedDay, ExportApi } from '../src/index.ts'
import { hasBrands, startingOver } from './brands.ts'
import { type Changes, listAlone } from './changes.ts'
import { type Copy, requireCopy, tablesOf } from './copy.ts'
import { coverageOf, startsOf, versionsOf } from './coverage.ts'
import { isCurrent } from './delta/table.ts'
import { IN_TWO_FILES, planFetches } from './fetch-days.ts'
import { statisticsOf } from './files.ts'
import { inspectFile } from './inspect.ts'
import type { Progress } from './progress.ts'
import type { Store } from './store.ts'
import { sync } from './sync.ts'

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
    const { store, compared = { files: 0, rows: 0, days: 0 } } = options
    const copy = await requireCopy(store)
    const coverage = coverageOf(copy)
    if (coverage === undefined) return [{ path: store.location, message: NO_COVERAGE }]
    const differences: Difference[] = []
    compared.files += 1
    if (!(await hasBrands(copy.brands, listed, 'hash')))
      differences.push({ path: 'brands', message: 'The brands differ.' })
    for (const table of tablesOf(copy))
      if (table.snapshot.version >= 0 && !isCurrent(table))
        differences.push({ path: table.name, message: 'The columns in its log are others.' })
    if (coverage.versions !== versionsOf(copy, coverage.scope))
      differences.push({ path: store.location, message: 'The last sync has not ended.' })
    await inspectFiles({ ...options, compared }, copy, differences)
    const lists: Changes[] = []
    const run = { copy, scope: coverage.scope, isFull: true }
    for (const brand of startsOf(run, listed)) {
      const { id, name } = brand
      if (!coverage.brandIds.includes(id)) {
        differences.push({ path: store.location, brand: id, message: `The sync of ${name} has not ended.` })
        continue
      }
      const changes = await listAlone({ api: options.api, ...coverage.scope }, brand, null)
      lists.push(changes)
      compared.days += changes.days.length
      for (const { table, needed, known } of planFetches(run, brand, changes))
        for (const [date, day] of needed) {
          const message = `${date} of ${name}: ${describe(day, known.get(date), coverage.since)}`
          differences.push({ path: table.name, brand: id, date, message })
        }
    }
    // `since` can be that of a brand which the copy does not have, and a little ahead of the service's clock.
    const times = lists.flatMap(({ days, asOf }) => [
      ...days.map(({ changedAt }) => changedAt),
      asOf === null ? '9999' : addDays(asOf, 2),
    ])
    const message = `The stored since, ${coverage.since}, is later than every change.`
    const isFuture = lists.length > 0 && times.every((time) => time < (coverage.since ?? ''))
    return isFuture ? [...differences, { path: 'brands', message }] : differences
  })

const NO_COVERAGE =
  'The first sync has not ended, or the folder brands is older than the tables, which have days outside of its scope.'

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

/** Says how a day differs from what the service lists. */
function describe(listed: ChangedDay, proof = '0', since: string | null): string {
  const [rows, digest] = proof.split(' ')
  const isLess = Number(rows) !== listed.rows
  const what = isLess
    ? `rows ${rows} instead of ${listed.rows}`
    : `digest ${digest} instead of ${listed.digest}`
  const cause = listed.changedAt > (since ?? '') ? ' It changed after the sync.' : ''
  return `${proof === IN_TWO_FILES ? 'it is in two files' : what}.${cause}`
}

/**
 * Lists all days of the scope of a copy, and fetches what differs again. Days that the plan does not reach stay as they are.
 * Throws as `sync` does.
 */
export async function repair({ full, ...options }: Verification): Promise<void> {
  await requireCopy(options.store)
  await sync({ ...options, check: full ? 'rows' : 'hash', isFull: true }, undefined)
}
