import type { Changes, FetchWindow } from './changes.ts'
import { monthOf } from './days.ts'
import { replaceFile, sha256 } from './folder.ts'
import { mergeMonth, type Part, type SortedRows, sortedRows } from './month.ts'
import { type Row, readParquet, writeParquet } from './parquet.ts'
import { type BrandCopy, monthPath, writeState } from './state.ts'
import type { Stream } from './streams.ts'
import type { Sync } from './sync.ts'

/** Thrown when the plan no longer reaches the first day of a window. */
export class WindowMoved extends Error {}

type Change = {
  readonly stream: Stream
  readonly changes: Changes
  readonly windows: readonly FetchWindow[]
}

/** Fetches windows of an endpoint, and replaces the files of their months in ascending order. */
export async function writeMonths(sync: Sync, copy: BrandCopy, change: Change): Promise<void> {
  const months = new Map<string, Part[]>()
  for (const window of change.windows) {
    let fetched: SortedRows | undefined
    const fetch = async () => {
      fetched ??= sortedRows(fetchWindow(sync, copy, change.stream, window))
      return fetched
    }
    for (const part of window.months) {
      const month = monthOf(part.from)
      months.set(month, [...(months.get(month) ?? []), { ...part, fetch }])
    }
  }
  for (const [month, parts] of months) await writeMonth(sync, copy, { ...change, month, parts })
}

type Month = Omit<Change, 'windows'> & { readonly month: string; readonly parts: readonly Part[] }

async function writeMonth(
  { progress }: Sync,
  copy: BrandCopy,
  { stream: { endpoint, columns }, changes, month, parts }: Month,
): Promise<void> {
  const { brandId, state } = copy
  const file = `${endpoint}/${month}`
  const path = monthPath(copy, file)
  const old = sortedRows(state.files[file] === undefined ? none() : readParquet(path, columns))
  let rows = 0
  let hash: string | undefined
  await replaceFile(path, async (unfinished) => {
    rows = await writeParquet(unfinished, columns, mergeMonth(old, parts))
    hash = await sha256(unfinished)
    return rows > 0
  })
  // After a kill before the state is written, the next sync finds another hash and fetches the month again.
  if (rows === 0 || hash === undefined) delete state.files[file]
  else state.files[file] = { sha256: hash, from: changes.fromDate, through: changes.token ?? '' }
  await writeState(copy)
  progress.log('file', { brand: brandId, endpoint, month, rows })
}

/** Yields the rows of a window. Throws `WindowMoved` when it does not begin where it should. */
async function* fetchWindow(
  { api, progress }: Sync,
  { brandId }: BrandCopy,
  { endpoint }: Stream,
  { from, to, rows: expected }: FetchWindow,
): AsyncGenerator<Row> {
  if (expected === 0) return
  for await (const { rows, meta } of api.metric(endpoint).pages({ brandId, fromDate: from, toDate: to })) {
    if (meta.fromDate.slice(0, from.length) !== from) throw new WindowMoved()
    progress.receive(rows.length)
    for (const row of rows) yield { brand_id: brandId, ...row }
  }
}

async function* none(): AsyncGenerator<Row> {}
