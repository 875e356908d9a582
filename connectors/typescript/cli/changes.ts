import type { ChangedDay, ExportApi } from '../src/index.ts'
import { addDays, monthOf, type Window } from './days.ts'
import type { BrandState } from './state.ts'

/** Days whose rows changed since a token, or all days. */
export type Changes = {
  readonly days: readonly ChangedDay[]
  /** The first day that the plan reached. */
  readonly fromDate: string
  /** The greatest `changedAt`, the previous token when nothing is listed. */
  readonly token: string | null
  /** Whether it lists every day that has rows. */
  readonly isFull: boolean
}

/** Days that are fetched in one window, and how many rows they are listed with. */
export type FetchWindow = Window & {
  readonly rows: number
  /** The part of each month that has listed days, in ascending order. */
  readonly months: readonly Window[]
}

/** Lists what changed since a token; every day when the plan reaches further back than before. */
export async function listDays(
  api: ExportApi,
  window: { readonly brandId: string; readonly fromDate: string | undefined },
  last: Pick<BrandState, 'token' | 'fromDate'>,
): Promise<Changes> {
  // A day that changes between two pages is listed twice.
  const days = new Map<string, ChangedDay>()
  let { token } = last
  let start = ''
  for await (const { rows, meta } of api.changedDays.pages({ ...window, since: token ?? undefined })) {
    // It can move between two pages.
    if (meta.fromDate > start) start = meta.fromDate
    for (const day of rows) {
      days.set(`${day.endpoint}/${day.date}`, day)
      token = day.changedAt
    }
  }
  const fromDate = start.slice(0, 'YYYY-MM-DD'.length)
  const isFull = last.token === null
  if (!isFull && fromDate < last.fromDate) return listDays(api, window, { ...last, token: null })
  return { days: [...days.values()], fromDate, token, isFull }
}

/** Whether the file of a day's month lacks its latest change. */
export function isNeeded(state: BrandState, { endpoint, date, rows, changedAt }: ChangedDay): boolean {
  const file = state.files[`${endpoint}/${monthOf(date)}`]
  return file === undefined ? rows > 0 : changedAt > file.through || date < file.from
}

/** Joins the days of an endpoint that are fetched in one window. When all days are listed, the others have no rows. */
export function fetchWindows(endpoint: string, { days, isFull }: Changes, state: BrandState): FetchWindow[] {
  const windows: FetchWindow[] = []
  let last: FetchWindow | undefined
  for (const day of days.filter((day) => day.endpoint === endpoint).sort(byDate)) {
    const { date, rows } = day
    if (!isNeeded(state, day)) {
      if (rows > 0) last = undefined
      continue
    }
    if (last !== undefined && (isFull || addDays(last.to, 1) === date)) {
      last = { ...last, to: date, rows: last.rows + rows, months: withDay(last.months, date) }
      windows[windows.length - 1] = last
    } else {
      last = { from: date, to: date, rows, months: withDay([], date) }
      windows.push(last)
    }
  }
  return windows
}

function withDay(months: readonly Window[], day: string): readonly Window[] {
  const last = months.at(-1)
  return last !== undefined && monthOf(last.to) === monthOf(day)
    ? [...months.slice(0, -1), { ...last, to: day }]
    : [...months, { from: day, to: day }]
}

const byDate = (left: ChangedDay, right: ChangedDay): number => (left.date < right.date ? -1 : 1)
