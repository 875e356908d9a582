import type { Copy, MetricTable } from './copy.ts'
import type { Action, AddFile, Snapshot } from './delta/log.ts'
import { readVersions } from './delta/table.ts'
import { dayKey, daysOf, eachDay, fileSource } from './files.ts'
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

/** Returns the days of an entry, such as `3 days from 2026-11-21 to 2026-11-23`. */
export const describeDays = ({ days, from, to }: Pick<Entry, 'days' | 'from' | 'to'>): string =>
  from === to ? from : `${counted(days, 'day')} from ${from} to ${to}`

type Options = {
  /** Whether each day is an entry. */
  readonly isByDay?: boolean
  /** Whether to read the rows, and sum each field that adds up. Files of earlier versions are there for some days. */
  readonly hasSums?: boolean
}

/** Returns the days that syncs replaced, as far as the logs of the tables have them. The oldest version is the first. */
export async function readReplaced(
  copy: Copy,
  { isByDay = false, hasSums = false }: Options = {},
): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const table of copy.metrics.values())
    for await (const { before, actions } of readVersions(table)) {
      const groups = new Map<string, Replaced[]>()
      for (const day of replacedDays(before, actions)) {
        const key = [day.after.brandId, ...day.causes, isByDay ? day.after.date : ''].join()
        groups.set(key, [...(groups.get(key) ?? []), day])
      }
      const { timestamp } = actions.find(({ commitInfo }) => commitInfo)?.commitInfo ?? {}
      const time = new Date(Number(timestamp)).toISOString()
      for (const group of groups.values()) {
        const dates = group.map(({ after }) => after.date).sort()
        const [{ after: { brandId = '' } = {}, causes = [] } = {}] = group
        const sums = (days: readonly Day[]) => sumsOf(table, days, hasSums)
        entries.push({
          ...{ time, table: table.name, version: before.version + 1, brandId },
          ...{ from: dates.at(0) ?? '', to: dates.at(-1) ?? '', days: group.length, causes },
          before: await sums(group.map((day) => day.before)),
          after: await sums(group.map((day) => day.after)),
        })
      }
    }
  return entries.sort((left, right) => (left.time < right.time ? -1 : 1))
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

/** Decimals have four digits after the point: in these units, sums are exact. */
const UNITS = 10_000

async function sumsOf(table: MetricTable, days: readonly Day[], hasSums: boolean): Promise<Sums> {
  const rows = days.reduce((sum, { proof }) => sum + Number.parseInt(proof, 10), 0)
  const files = new Set(days.flatMap(({ file }) => file ?? []))
  if (!hasSums || [...files].some(({ path }) => !table.listed.has(path))) return { rows }
  const wanted = new Set(days.map(({ brandId, date }) => dayKey(brandId, date)))
  const sums = Object.fromEntries(table.stream.totals.map((field) => [field, 0]))
  for (const file of files)
    for await (const row of fileSource(table, file, (day) => wanted.has(day)).rows())
      for (const field of table.stream.totals)
        sums[field] = (sums[field] ?? 0) + Math.round(Number(row[field]) * UNITS)
  return { rows, ...Object.fromEntries(Object.entries(sums).map(([field, sum]) => [field, sum / UNITS])) }
}
