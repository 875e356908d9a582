import type { Copy, MetricTable } from './copy.ts'
import type { Action, AddFile, Snapshot } from './delta/log.ts'
import { readVersions } from './delta/table.ts'
import { CommandError } from './errors.ts'
import { dayKey, daysOf, eachDay, fileSource, fromUnits, statisticsOf, toUnits } from './files.ts'
import { counted } from './text.ts'

/** A day of a brand in a version of a table: its number of rows, and the file that has them. */
type Day = {
  readonly brandId: string
  readonly date: string
  readonly proof: string
  readonly file?: AddFile | undefined
}

/** A day that a version replaced. */
type Replaced = { readonly before: Day; readonly after: Day; readonly causes: readonly string[] }

/** Days of a brand that a version of a table replaced, for the same causes. */
export type Entry = {
  readonly time: string
  readonly table: string
  readonly version: number
  readonly brandId: string
  readonly from: string
  readonly to: string
  readonly days: number
  readonly causes: readonly string[]
  /** The number of rows, and the sums that are read. */
  readonly before: Sums
  readonly after: Sums
}

type Sums = Readonly<Record<string, number>> & { readonly rows: number }

/** Returns the days of an entry, such as `3 days between 2026-11-21 and 2026-11-25`. */
export const describeDays = ({ days, from, to }: Pick<Entry, 'days' | 'from' | 'to'>): string =>
  from === to ? from : `${counted(days, 'day')} between ${from} and ${to}`

type Options = {
  /** Whether each day is an entry. */
  readonly isByDay?: boolean
  /**
   * Whether to read no further back than the last checkpoints of the logs, and no rows. Otherwise sums each field that adds
   * up, of files that are still there.
   */
  readonly isRecent?: boolean
}

/** Returns the days that syncs replaced, as far as the logs of the tables have them. The oldest version is the first. */
export async function readReplaced(
  copy: Copy,
  { isByDay = false, isRecent = false }: Options,
): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const table of copy.metrics.values())
    for await (const { before, actions } of readVersions(table, isRecent)) {
      const days = replacedDays(before, actions)
      const groups = new Map<string, Replaced[]>()
      for (const day of days) {
        const key = [day.after.brandId, ...day.causes, isByDay ? day.after.date : ''].join()
        groups.set(key, [...(groups.get(key) ?? []), day])
      }
      const [old, now] = [days.map((day) => day.before), days.map((day) => day.after)]
      const sums = isRecent ? undefined : { old: await readSums(table, old), now: await readSums(table, now) }
      const time = new Date(Number(commitOf(actions)?.timestamp ?? 0)).toISOString()
      for (const group of groups.values()) {
        const dates = group.map(({ after }) => after.date).sort()
        const [{ after: { brandId = '' } = {}, causes = [] } = {}] = group
        entries.push({
          ...{ time, table: table.name, version: before.version + 1, brandId },
          ...{ from: dates.at(0) ?? '', to: dates.at(-1) ?? '', days: group.length, causes },
          before: addUp(
            table,
            group.map((day) => day.before),
            sums?.old,
          ),
          after: addUp(
            table,
            group.map((day) => day.after),
            sums?.now,
          ),
        })
      }
    }
  return entries.sort((left, right) => (left.time < right.time ? -1 : 1))
}

const commitOf = (actions: readonly Action[]): Action['commitInfo'] =>
  actions.find(({ commitInfo }) => commitInfo)?.commitInfo

/**
 * Returns the days of which a version has other rows than the version before it. A day that gets its first rows counts when it
 * is before the last day that was there.
 */
function replacedDays({ files }: Snapshot, actions: readonly Action[]): Replaced[] {
  const info = commitOf(actions)
  if (info?.operation !== 'WRITE') return []
  const removed = actions.flatMap(({ remove }) => files.get(decodeURI(remove?.path ?? '')) ?? [])
  const added = actions.flatMap(({ add }) => (add ? { ...add, path: decodeURI(add.path) } : []))
  const [old, now] = [daysIn(removed), daysIn(added)]
  const causes = readCauses(info.userMetadata)
  const last =
    [...files.values()]
      .map((file) => statisticsOf(file).last)
      .sort()
      .at(-1) ?? ''
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
    const any = old.get(key) ?? now.get(key)
    if (any === undefined || (!old.has(key) && any.date >= last)) return []
    const none = { ...any, proof: '0', file: undefined }
    const [before, after] = [old.get(key) ?? none, now.get(key) ?? none]
    return before.proof === after.proof ? [] : { before, after, causes: causes[key] ?? [] }
  })
}

/** Returns the causes of days that a sync has written with a commit; none of the commit of another program. */
function readCauses(userMetadata: unknown): Readonly<Record<string, readonly string[]>> {
  try {
    return JSON.parse(String(userMetadata)).causes ?? {}
  } catch {
    return {}
  }
}

const daysIn = (files: readonly AddFile[]): Map<string, Day> =>
  new Map(
    files.flatMap((file) =>
      [...eachDay(daysOf(file))].map((day) => [dayKey(day.brandId, day.date), { ...day, file }]),
    ),
  )

/** The sums of each field that adds up, by day. */
type DaySums = ReadonlyMap<string, Readonly<Record<string, number>>>

/** Reads the sums of days. Leaves out those whose file has expired or was altered. */
async function readSums(table: MetricTable, days: readonly Day[]): Promise<DaySums> {
  const wanted = new Set(days.map(({ brandId, date }) => dayKey(brandId, date)))
  const sums = new Map<string, Record<string, number>>()
  for (const file of new Set(days.flatMap(({ file }) => file ?? []))) {
    if (!table.listed.has(file.path)) continue
    const read = new Map<string, Record<string, number>>()
    try {
      for await (const row of fileSource(table, file, (day) => wanted.has(day)).rows()) {
        const key = dayKey(String(row.brand_id), String(row.date))
        const known = read.get(key) ?? {}
        for (const field of table.stream.totals) known[field] = (known[field] ?? 0) + toUnits(row[field])
        read.set(key, known)
      }
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      continue
    }
    for (const [key, known] of read) sums.set(key, known)
  }
  return sums
}

/** Adds up days. Has only the number of rows when the sums of a day are not known. */
function addUp({ stream }: MetricTable, days: readonly Day[], sums: DaySums | undefined): Sums {
  const rows = days.reduce((total, { proof }) => total + Number.parseInt(proof, 10), 0)
  const known = days
    .filter(({ file }) => file !== undefined)
    .map(({ brandId, date }) => sums?.get(dayKey(brandId, date)))
  if (sums === undefined || known.includes(undefined)) return { rows }
  const totalOf = (field: string) => known.reduce((total, day) => total + (day?.[field] ?? 0), 0)
  return { rows, ...Object.fromEntries(stream.totals.map((field) => [field, fromUnits(totalOf(field))])) }
}
