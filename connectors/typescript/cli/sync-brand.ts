import {
  type Changes,
  dayKey,
  type FetchWindow,
  fetchWindows,
  isNeeded,
  type KnownDay,
  listAlone,
  pagesOf,
} from './changes.ts'
import { addDays, monthOf } from './days.ts'
import { countDays } from './parquet.ts'
import { type BrandCopy, writeState } from './state.ts'
import { METRICS, type Stream } from './streams.ts'
import type { Sync } from './sync.ts'
import { WindowMoved, writeMonths } from './write-months.ts'

/** The changes of brands that were listed together. */
export type Together = ReadonlyMap<string, Changes>

/** Whether a list had changes of a brand, and the time up to which it had them all. */
type Round = { readonly isChanged: boolean; readonly asOf: string | null }

/** Brings the files of a brand up to date with one list of its changes. */
export async function syncBrand(sync: Sync, copy: BrandCopy, together: Together): Promise<Round> {
  const { state } = copy
  const changes = await listChanges(sync, copy, together)
  try {
    await writeChanges(sync, copy, changes)
  } catch (error) {
    if (error instanceof WindowMoved) return { isChanged: true, asOf: null }
    throw error
  }
  const { token, fromDate, days, asOf } = changes
  if (token !== state.token || fromDate !== state.fromDate) {
    Object.assign(state, { token, fromDate })
    await writeState(copy)
  }
  return { isChanged: days.length > 0, asOf }
}

/** Returns the changed days of a brand, and those whose rows are not proven yet. */
export async function listChanges(sync: Sync, copy: BrandCopy, together: Together): Promise<Changes> {
  const { brandId, state } = copy
  const [anyList] = together.values()
  const changes =
    together.get(brandId) ?? (await listAlone(sync, { brandId, state, received: anyList?.token ?? null }))
  const days = new Map(
    // Days that the plan no longer reaches, or that were not listed, stay as they are.
    Object.entries(state.unproven).filter(
      ([, { date }]) => date >= changes.fromDate && date <= (sync.toDate ?? date),
    ),
  )
  for (const day of changes.days) days.set(dayKey(day), day)
  return { ...changes, days: [...days.values()] }
}

async function writeChanges(sync: Sync, copy: BrandCopy, changes: Changes): Promise<void> {
  const plans = await planWindows(sync, copy, changes)
  const expected = plans.flatMap(({ windows }) => windows.map(({ rows }) => rows))
  sync.progress.expect(sum(expected), sum(expected.map(pagesOf)))
  for (const plan of plans) await writeMonths(sync, copy, { ...plan, changes })
}

type Plan = { readonly stream: Stream; readonly windows: readonly FetchWindow[] }

/** Returns what is fetched of each metric. */
export const planWindows = (
  { endpoints }: Sync,
  copy: BrandCopy,
  changes: Changes,
): Promise<readonly Plan[]> =>
  Promise.all(
    METRICS.filter(({ endpoint }) => endpoints?.includes(endpoint) ?? true).map(async (stream) => ({
      stream,
      windows: fetchWindows(await knownDays(copy, stream.endpoint, changes)),
    })),
  )

/** Returns the listed days, and those between them that have rows in the copy. */
async function knownDays(copy: BrandCopy, endpoint: string, changes: Changes): Promise<KnownDay[]> {
  const listed = changes.days
    .filter((day) => day.endpoint === endpoint)
    .map((day) => ({ date: day.date, rows: day.rows, isNeeded: isNeeded(copy.state, day) }))
    .sort(byDate)
  const [first, last] = [listed.at(0)?.date, listed.at(-1)?.date]
  // A list of all days has every day with rows.
  if (first === undefined || last === undefined || changes.isFull) return listed
  if (addDays(first, listed.length - 1) === last) return listed
  const dates = new Set(listed.map(({ date }) => date))
  for (const [file, { path }] of Object.entries(copy.state.files)) {
    const [of, month = ''] = file.split('/')
    if (of !== endpoint || month < monthOf(first) || month > monthOf(last)) continue
    for (const [date, rows] of await countDays(await copy.store.open(path))) {
      if (!dates.has(date)) listed.push({ date, rows, isNeeded: false })
    }
  }
  return listed.sort(byDate)
}

const byDate = (left: KnownDay, right: KnownDay): number => (left.date < right.date ? -1 : 1)

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
