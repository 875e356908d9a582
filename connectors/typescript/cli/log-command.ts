import { describeCause } from './causes.ts'
import { type MetricTable, requireCopy } from './copy.ts'
import type { Action, AddFile, Snapshot } from './delta/log.ts'
import { readVersions } from './delta/table.ts'
import { dayKey, daysOf, eachDay, fileSource } from './files.ts'
import type { Progress } from './progress.ts'
import { readTable } from './report/read-files.ts'
import type { Store } from './store.ts'
import { counted, formatNumber } from './text.ts'

/** A day of a brand in a version of a table: its number of rows, and the file that has them. */
type Day = {
  readonly brandId: string
  readonly date: string
  readonly proof: string
  readonly file?: AddFile | undefined
}

/** A day that a version replaced. */
type Replaced = { readonly before: Day; readonly after: Day; readonly causes: readonly string[] }

/** Days of a brand that a version replaced for the same causes, oldest first. */
type Entry = {
  readonly time: string
  readonly table: string
  readonly version: number
  readonly brand: string
  readonly from: string
  readonly to: string
  readonly days: number
  readonly causes: readonly string[]
  /** The number of rows, and the sum of each field that adds up while the files are there. */
  readonly before: Sums
  readonly after: Sums
}

type Sums = Readonly<Record<string, number>>

/** Reports the days that versions of a copy replaced, the oldest version first. Throws `CommandError` when there is no copy. */
export async function runLog(
  store: Store,
  progress: Progress,
  { days: isByDay = false }: { readonly days?: boolean },
): Promise<void> {
  progress.begin(`Reading the log of ${store.location}`)
  const copy = await requireCopy(store)
  const names = new Map<string, string>()
  for await (const { id, name } of readTable(copy.brands)) names.set(String(id), String(name))
  const entries: Entry[] = []
  for (const table of copy.metrics.values())
    for await (const { before, actions } of readVersions(table)) {
      const groups = Map.groupBy(replacedDays(before, actions), ({ after, causes }) =>
        [after.brandId, ...causes, isByDay ? after.date : ''].join(),
      )
      for (const group of groups.values())
        entries.push(await entryOf(table, { version: before.version + 1, actions, names }, group))
    }
  entries.sort((left, right) => (left.time < right.time ? -1 : 1))
  for (const entry of entries) progress.notice('replaced', describe(entry), entry)
  if (entries.length === 0) progress.notice('log', 'No sync has replaced a day.')
}

/** Returns the days of which a version has other rows than the version before it. */
function replacedDays({ files }: Snapshot, actions: readonly Action[]): Replaced[] {
  const info = actions.find(({ commitInfo }) => commitInfo)?.commitInfo
  if (info?.operation !== 'WRITE') return []
  const removed = actions.flatMap(({ remove }) => files.get(decodeURI(remove?.path ?? '')) ?? [])
  const added = actions.flatMap(({ add }) => (add ? { ...add, path: decodeURI(add.path) } : []))
  const [old, now] = [daysIn(removed), daysIn(added)]
  const { causes = {} } = JSON.parse(String(info.userMetadata ?? '{}'))
  return [...old].flatMap(([key, before]) => {
    const after = now.get(key) ?? { ...before, proof: '0', file: undefined }
    return after.proof === before.proof ? [] : { before, after, causes: causes[key] ?? [] }
  })
}

const daysIn = (files: readonly AddFile[]): Map<string, Day> =>
  new Map(
    files.flatMap((file) =>
      [...eachDay(daysOf(file))].map((day) => [dayKey(day.brandId, day.date), { ...day, file }]),
    ),
  )

type Version = {
  readonly version: number
  readonly actions: readonly Action[]
  readonly names: ReadonlyMap<string, string>
}

async function entryOf(
  table: MetricTable,
  { version, actions, names }: Version,
  group: readonly Replaced[],
): Promise<Entry> {
  const dates = group.map(({ after }) => after.date).sort()
  const [{ after: { brandId = '' } = {}, causes = [] } = {}] = group
  return {
    time: new Date(Number(actions.find(({ commitInfo }) => commitInfo)?.commitInfo?.timestamp)).toISOString(),
    table: table.name,
    version,
    brand: names.get(brandId) ?? brandId,
    from: dates.at(0) ?? '',
    to: dates.at(-1) ?? '',
    days: group.length,
    causes,
    before: await sumsOf(
      table,
      group.map(({ before }) => before),
    ),
    after: await sumsOf(
      table,
      group.map(({ after }) => after),
    ),
  }
}

/** Decimals have four digits after the point: in these units, sums are exact. */
const UNITS = 10_000

async function sumsOf(table: MetricTable, days: readonly Day[]): Promise<Sums> {
  const rows = days.reduce((sum, { proof }) => sum + Number.parseInt(proof, 10), 0)
  const files = new Set(days.flatMap(({ file }) => file ?? []))
  if ([...files].some(({ path }) => !table.listed.has(path))) return { rows }
  const wanted = new Set(days.map(({ brandId, date }) => dayKey(brandId, date)))
  const sums = Object.fromEntries(table.stream.totals.map((field) => [field, 0]))
  for (const file of files)
    for await (const row of fileSource(table, file, (day) => wanted.has(day)).rows())
      for (const field of table.stream.totals)
        sums[field] = (sums[field] ?? 0) + Math.round(Number(row[field]) * UNITS)
  return { rows, ...Object.fromEntries(Object.entries(sums).map(([field, sum]) => [field, sum / UNITS])) }
}

function describe({ time, table, brand, from, to, days, causes, before, after }: Entry): string[] {
  const when = from === to ? from : `${counted(days, 'day')} from ${from} to ${to}`
  const sums = Object.keys(after)
    .filter((field) => field in before && before[field] !== after[field])
    .map((field) => `${field} ${formatNumber(before[field] ?? 0)} → ${formatNumber(after[field] ?? 0)}`)
  return [
    `${time.slice(0, 16).replace('T', ' ')} UTC: ${table} of ${brand}, ${when}${causes.map((cause) => `, ${describeCause(cause)}`).join('')}`,
    `  ${sums.length === 0 ? 'Other rows with the same sums' : sums.join(', ')}`,
  ]
}
