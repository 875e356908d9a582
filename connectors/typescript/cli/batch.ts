import type { Row } from '../../../lib/share/parquet.ts'
import { addDays } from '../../../site/charts/days.ts'
import type { MetricTable } from './copy.ts'
import { monthOf } from './days.ts'
import type { Action, AddFile } from './delta/log.ts'
import { commit, removal, type Times } from './delta/table.ts'
import { dayKey, daysOf, eachDay, fileSource, type Source, statisticsOf, writeFiles } from './files.ts'

/** The proven rows of a day. */
type ProvenDay = {
  readonly brandId: string
  readonly date: string
  readonly proof: string
  readonly rows: readonly Row[]
  /** The kinds of causes why it changed since the last sync. */
  readonly causes: readonly string[]
}

/** A commit waits for that many milliseconds, or rows and characters, which are in memory. */
const MOST_MS = 60_000
const MOST_ROWS = 40_000
const MOST_CHARACTERS = 32_000_000

/** Proven days that are not committed yet, by table. */
export type Batch = ReturnType<typeof createBatch>

export function createBatch(tables: ReadonlyMap<string, MetricTable>, times: Times) {
  let days = new Map<MetricTable, Map<string, ProvenDay>>()
  let rows = 0
  let characters = 0
  let since = performance.now()
  let writing = Promise.resolve()
  const write = async (isLast: boolean) => {
    const taken = days
    days = new Map()
    rows = 0
    characters = 0
    for (const table of tables.values()) {
      const batch = [...(taken.get(table)?.values() ?? [])]
      if (batch.length > 0) await replaceDays(table, batch, { ...times, isLast })
    }
    since = performance.now()
  }
  const flush = (isLast: boolean): Promise<void> => {
    writing = writing.then(() => write(isLast))
    return writing
  }
  return {
    /** Returns what a day is after the next commit; undefined when it stays as it is. */
    proofOf: (table: MetricTable, brandId: string, date: string) =>
      days.get(table)?.get(dayKey(brandId, date))?.proof,
    /** Adds a day. Commits first when there is much. */
    async add(table: MetricTable, day: ProvenDay): Promise<void> {
      const own = days.get(table) ?? new Map<string, ProvenDay>()
      days.set(table, own.set(dayKey(day.brandId, day.date), day))
      rows += day.rows.length
      characters += charactersOf(day.rows)
      if (rows > MOST_ROWS || characters > MOST_CHARACTERS || performance.now() - since > MOST_MS)
        await flush(false)
    },
    /** Commits the days. The last commit also joins small files. */
    flush,
  }
}

function charactersOf(rows: readonly Row[]): number {
  let characters = 0
  for (const row of rows)
    for (const value of Object.values(row)) if (typeof value === 'string') characters += value.length
  return characters
}

/** Smaller files of a group are joined. */
const SMALL_BYTES = 16_000_000

type Group = { readonly rewritten: AddFile[]; readonly small: AddFile[]; readonly days: ProvenDay[] }

/**
 * Commits days in place of those that a table has. Files with one of them are written again. A group of days, which is a
 * month, or one of the last two days, gets one file more, or one file again in the last commit of a run.
 */
async function replaceDays(
  table: MetricTable,
  batch: readonly ProvenDay[],
  { now, expiry, isLast }: Times & { readonly isLast: boolean },
): Promise<void> {
  const yesterday = addDays(new Date(now).toISOString().slice(0, 10), -1)
  const groups = new Map<string, Group>()
  const groupOf = (date: string): Group => {
    const name = date >= yesterday ? date : monthOf(date)
    const group = groups.get(name) ?? { rewritten: [], small: [], days: [] }
    groups.set(name, group)
    return group
  }
  const replaced = new Set(batch.map(({ brandId, date }) => dayKey(brandId, date)))
  for (const file of table.snapshot.files.values()) {
    const group = groupOf(statisticsOf(file).first)
    if (hasOneOf(file, batch, replaced)) group.rewritten.push(file)
    else if (file.size < SMALL_BYTES) group.small.push(file)
  }
  for (const day of batch) if (day.rows.length > 0) groupOf(day.date).days.push(day)
  const actions: Action[] = []
  for (const { rewritten, small, days } of groups.values()) {
    const isJoined = isLast && rewritten.length + small.length + Math.min(days.length, 1) > 1
    const old = isJoined ? [...rewritten, ...small] : rewritten
    const sources = old.map((file) => fileSource(table, file, (day) => !replaced.has(day)))
    actions.push(...(await writeFiles(table, [...sources, ...days.map(sourceOf)])), ...old.map(removal))
  }
  const causes = Object.fromEntries(
    batch.filter(({ causes }) => causes.length > 0).map((day) => [dayKey(day.brandId, day.date), day.causes]),
  )
  await commit(table, 'WRITE', { actions, expiry, userMetadata: JSON.stringify({ causes }) })
}

function hasOneOf(file: AddFile, batch: readonly ProvenDay[], replaced: ReadonlySet<string>): boolean {
  const { first, last } = statisticsOf(file)
  if (!batch.some(({ date }) => date >= first && date <= last)) return false
  for (const { brandId, date } of eachDay(daysOf(file))) if (replaced.has(dayKey(brandId, date))) return true
  return false
}

const sourceOf = ({ brandId, date, proof, rows }: ProvenDay): Source => ({
  days: { [brandId]: { [date]: proof } },
  rows: () => rows,
})
