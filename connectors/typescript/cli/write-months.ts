import type { ChangedDay } from '../src/index.ts'
import { type Changes, dayKey, type FetchWindow } from './changes.ts'
import { addRow, describeDifferences, type SumsByDay } from './day-sums.ts'
import { monthOf } from './days.ts'
import { CommandError } from './errors.ts'
import { mergeMonth, type Part, type SortedRows, sortedRows } from './month.ts'
import { type Row, readParquet, schemaName, writeParquet } from './parquet.ts'
import { monthPath } from './paths.ts'
import { type BrandCopy, writeState } from './state.ts'
import type { Stream } from './streams.ts'
import type { Sync } from './sync.ts'

/** Thrown when the plan no longer reaches the first day of a window. */
export class WindowMoved extends Error {}

type Change = {
  readonly stream: Stream
  readonly changes: Changes
  readonly windows: readonly FetchWindow[]
}

/** Fetches windows of an endpoint, and writes the files of their months again, in ascending order. */
export async function writeMonths(sync: Sync, copy: BrandCopy, change: Change): Promise<void> {
  const months = new Map<string, Part[]>()
  const sums: SumsByDay = new Map()
  for (const window of change.windows) {
    let fetched: SortedRows | undefined
    const fetch = async () => {
      fetched ??= sortedRows(fetchWindow(sync, copy, { ...change, window, sums }))
      return fetched
    }
    for (const part of window.parts) {
      const month = monthOf(part.from)
      months.set(month, [...(months.get(month) ?? []), { ...part, fetch }])
    }
  }
  for (const [month, parts] of months) await writeMonth(sync, copy, { ...change, month, parts, sums })
}

type Month = Omit<Change, 'windows'> & {
  readonly month: string
  readonly parts: readonly Part[]
  /** Of the rows that were fetched. */
  readonly sums: SumsByDay
}

async function writeMonth(
  { progress }: Sync,
  copy: BrandCopy,
  { stream, changes, month, parts, sums }: Month,
): Promise<void> {
  const { store, brandId, state } = copy
  const { endpoint, columns } = stream
  const file = `${endpoint}/${month}`
  const known = state.files[file]
  const old = sortedRows(known === undefined ? none() : readParquet(await store.open(known.path), columns))
  let rows = 0
  const written = await store.create(monthPath(brandId, file), async (writer) => {
    rows = await writeParquet(writer, columns, mergeMonth(old, parts))
    return rows
  })
  // After a kill before the state is written, the next sync fetches the month again.
  if (written === undefined) delete state.files[file]
  else
    state.files[file] = {
      ...written,
      rows,
      from: changes.fromDate,
      through: changes.token ?? '',
      schema: schemaName(columns),
    }
  const isFetched = ({ date }: ChangedDay) => parts.some(({ from, to }) => from <= date && date <= to)
  const fetched = changes.days.filter((day) => day.endpoint === endpoint && isFetched(day))
  const problem = prove(copy, stream, { days: fetched, sums })
  await writeState(copy)
  if (problem !== undefined)
    throw new CommandError(
      `${problem}, in each of ${MOST_ATTEMPTS} attempts. Check what alters responses between the service and this machine.`,
    )
  progress.log('file', { brand: brandId, endpoint, month, rows })
}

/** How often a day is fetched whose rows are not those of the list. */
const MOST_ATTEMPTS = 3

/**
 * Notes the days whose rows are not those of the list: they have changed since, and are listed again, or their rows were
 * altered on the way. Returns what differs on a day that has differed from the same list in each attempt.
 */
function prove(
  { state, attempts }: BrandCopy,
  stream: Stream,
  { days, sums }: { readonly days: readonly ChangedDay[]; readonly sums: SumsByDay },
): string | undefined {
  let problem: string | undefined
  for (const day of days) {
    const key = dayKey(day)
    const differences = describeDifferences(sums.get(key), day, stream)
    delete state.unproven[key]
    if (differences === '') continue
    state.unproven[key] = day
    const listed = `${key} ${day.changedAt}`
    const attempt = (attempts.get(listed) ?? 0) + 1
    attempts.set(listed, attempt)
    if (attempt >= MOST_ATTEMPTS) problem = `${day.endpoint} of ${day.date} has ${differences}`
  }
  return problem
}

type Fetch = {
  readonly stream: Stream
  readonly window: FetchWindow
  readonly sums: SumsByDay
}

/** Yields the rows of a window, and adds them to the sums. Throws `WindowMoved` when it does not begin where it should. */
async function* fetchWindow(
  { api, progress }: Sync,
  { brandId }: BrandCopy,
  { stream, window: { from, to, rows: expected }, sums }: Fetch,
): AsyncGenerator<Row> {
  if (expected === 0) return
  const window = { brandId, fromDate: from, toDate: to }
  for await (const { rows, meta } of api.metric(stream.endpoint).pages(window)) {
    if (meta.fromDate.slice(0, from.length) !== from) throw new WindowMoved()
    progress.receive(rows.length)
    for (const sent of rows) {
      const row = { brand_id: brandId, ...sent }
      addRow(sums, stream, row)
      yield row
    }
  }
}

async function* none(): AsyncGenerator<Row> {}
