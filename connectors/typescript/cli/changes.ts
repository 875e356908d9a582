import type { ChangedDay, ExportApi } from '../src/index.ts'
import { addDays, monthOf, type Window } from './days.ts'
import { BrandsMoved } from './errors.ts'
import type { BrandState } from './state.ts'

/** Days of a brand whose rows changed since its token, or all days. */
export type Changes = {
  readonly days: readonly ChangedDay[]
  /** The first day that the plan reached. */
  readonly fromDate: string
  /** The brand's next token; null when nothing was ever listed. */
  readonly token: string | null
  /** Whether it lists every day that has rows. */
  readonly isFull: boolean
  /** Every change that was committed before this time was listed; null when the service does not know. */
  readonly asOf: string | null
}

type Token = Pick<BrandState, 'token' | 'fromDate'>
type Listing = {
  readonly api: ExportApi
  readonly fromDate: string | undefined
  readonly toDate?: string | undefined
}

/**
 * Lists what changed since the latest token of some brands, with one request per page for all brands that have it.
 * Returns the changes by brand; empty when no brand has a token. Throws {@link BrandsMoved} when the key reads other
 * brands than those with the digest: the list can lack changes of a brand.
 */
export async function listTogether(
  { brandsDigest, ...listing }: Listing & { readonly brandsDigest: string },
  brands: readonly { readonly brandId: string; readonly state: Token }[],
): Promise<ReadonlyMap<string, Changes>> {
  const latest = brands.reduce((greatest, { state: { token } }) => later(greatest, token), '')
  const together = brands.filter(({ state: { token } }) => token !== null && token === latest)
  const [first] = together
  if (first === undefined) return new Map()
  const byBrand = new Map<string, ChangedDay[]>(together.map(({ brandId }) => [brandId, []]))
  const query =
    together.length === 1
      ? { brandId: first.brandId, brandsDigest: null }
      : { brandId: undefined, brandsDigest }
  const list = await readList(listing, { ...query, since: latest })
  for (const day of list.days) byBrand.get(day.brandId)?.push(day)
  return new Map(
    together
      // When the plan reaches further back than before, a brand needs all days.
      .filter(({ state }) => list.fromDate >= state.fromDate)
      .map(({ brandId }) => [brandId, { ...list, days: byBrand.get(brandId) ?? [], isFull: false }]),
  )
}

/**
 * Lists what changed of one brand since its token; every day without a token, and when the plan reaches further back
 * than before. `received` is a token that was received before: changes that the list does not have are later.
 */
export async function listAlone(
  listing: Listing,
  { brandId, state, received }: { brandId: string; state: Token; received: string | null },
): Promise<Changes> {
  const isFull = state.token === null
  const list = await readList(listing, { brandId, brandsDigest: null, since: state.token ?? undefined })
  if (!isFull && list.fromDate < state.fromDate)
    return listAlone(listing, { brandId, state: { ...state, token: null }, received })
  return { ...list, token: later(later(list.token, state.token), received) || null, isFull }
}

const later = (left: string | null, right: string | null): string =>
  (left ?? '') > (right ?? '') ? (left ?? '') : (right ?? '')

type List = {
  readonly brandId: string | undefined
  /** That of the brands of the list; null for one brand. */
  readonly brandsDigest: string | null
  readonly since: string | undefined
}

async function readList(
  { api, fromDate, toDate }: Listing,
  { brandsDigest, ...query }: List,
): Promise<Omit<Changes, 'isFull'>> {
  // A day that changes between two pages is listed twice.
  const days = new Map<string, ChangedDay>()
  let token = query.since ?? null
  let start = ''
  let firstAsOf: string | null | undefined
  for await (const page of api.changedDays.pages({ ...query, fromDate, toDate })) {
    const { rows, meta, asOf } = page
    if (page.brandsDigest !== brandsDigest) throw new BrandsMoved()
    // It can move between two pages.
    if (meta.fromDate > start) start = meta.fromDate
    firstAsOf ??= asOf
    for (const day of rows) {
      days.set(`${day.brandId}/${day.endpoint}/${day.date}`, day)
      token = day.changedAt
    }
  }
  const day = start.slice(0, 'YYYY-MM-DD'.length)
  return { days: [...days.values()], fromDate: day, token, asOf: firstAsOf ?? null }
}

/** The name of a day in the state. */
export const dayKey = ({ endpoint, date }: ChangedDay): string => `${endpoint}/${date}`

/** Whether the file of a day's month lacks its latest change. */
export function isNeeded(state: BrandState, day: ChangedDay): boolean {
  const { endpoint, date, rows, changedAt } = day
  const file = state.files[`${endpoint}/${monthOf(date)}`]
  if (file === undefined) return rows > 0 || dayKey(day) in state.unproven
  return changedAt > file.through || date < file.from || dayKey(day) in state.unproven
}

/** A day of an endpoint and its number of rows. Days that are not needed are in the copy. */
export type KnownDay = { readonly date: string; readonly rows: number; readonly isNeeded: boolean }

/** What is fetched together. */
export type FetchWindow = Window & {
  readonly rows: number
  /** The runs of adjacent days that are needed, each in one month, in ascending order. */
  readonly parts: readonly Window[]
}

const PAGE = 1000

/** The requests that rows take. */
export const pagesOf = (rows: number): number => Math.ceil(rows / PAGE)

/**
 * Joins needed days in windows, over days between them as well where that takes no more requests. So the windows never
 * take more requests than one window from the first to the last needed day. `days` are all that may have rows between
 * the first and the last needed day, in ascending order.
 */
export function fetchWindows(days: readonly KnownDay[]): FetchWindow[] {
  const windows: FetchWindow[] = []
  let last: FetchWindow | undefined
  let between = 0
  for (const { date, rows, isNeeded } of days) {
    if (!isNeeded) {
      between += rows
      continue
    }
    const joined = (last?.rows ?? 0) + between + rows
    if (last !== undefined && pagesOf(joined) <= pagesOf(last.rows) + pagesOf(rows)) {
      last = { ...last, to: date, rows: joined, parts: withDay(last.parts, date) }
      windows[windows.length - 1] = last
    } else {
      last = { from: date, to: date, rows, parts: withDay([], date) }
      windows.push(last)
    }
    between = 0
  }
  return windows
}

function withDay(parts: readonly Window[], day: string): readonly Window[] {
  const last = parts.at(-1)
  const isAdjacent = last !== undefined && addDays(last.to, 1) === day && monthOf(last.to) === monthOf(day)
  return isAdjacent ? [...parts.slice(0, -1), { ...last, to: day }] : [...parts, { from: day, to: day }]
}
