import type { ChangedDay, ExportApi } from '../src/index.ts'
import { isDay, type Window } from './days.ts'
import { CommandError, MovedError } from './errors.ts'
import { isUuid } from './text.ts'

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

/** The greatest `changed_at` whose changes were received of a brand, and the first day that the plan reached then. */
export type Position = { readonly token: string | null; readonly fromDate: string }

type Brand = Position & { readonly id: string }
type Listing = {
  readonly api: ExportApi
  readonly fromDate: string | undefined
  readonly toDate?: string | undefined
}

/**
 * Lists what changed since the latest token of some brands, with one request per page for all brands that have it.
 * Returns the changes by brand; empty when no brand has a token. Throws `MovedError` when the key reads other
 * brands than those with the digest: the list can lack changes of a brand.
 */
export async function listTogether(
  { brandsDigest, ...listing }: Listing & { readonly brandsDigest: string },
  brands: readonly Brand[],
): Promise<ReadonlyMap<string, Changes>> {
  const latest = brands.reduce((greatest, { token }) => later(greatest, token), '')
  const together = brands.filter(({ token }) => token !== null && token === latest)
  const [first] = together
  if (first === undefined) return new Map()
  const byBrand = new Map<string, ChangedDay[]>(together.map(({ id }) => [id, []]))
  const query =
    together.length === 1 ? { brandId: first.id, brandsDigest: null } : { brandId: undefined, brandsDigest }
  const list = await readList(listing, { ...query, since: latest })
  for (const day of list.days) byBrand.get(day.brandId)?.push(day)
  return new Map(
    together
      // When the plan reaches further back than before, a brand needs all days.
      .filter(({ fromDate }) => list.fromDate >= fromDate)
      .map(({ id }) => [id, { ...list, days: byBrand.get(id) ?? [], isFull: false }]),
  )
}

/**
 * Lists what changed of one brand since its token; every day without a token, and when the plan reaches further back
 * than before. `received` is a token that was received before: changes that the list does not have are later.
 */
export async function listAlone(listing: Listing, brand: Brand, received: string | null): Promise<Changes> {
  const { id, token, fromDate } = brand
  const list = await readList(listing, { brandId: id, brandsDigest: null, since: token ?? undefined })
  if (token !== null && list.fromDate < fromDate)
    return listAlone(listing, { ...brand, token: null }, received)
  return { ...list, token: later(later(list.token, token), received) || null, isFull: token === null }
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
    if (page.brandsDigest !== brandsDigest)
      throw new MovedError('The brands of the key change while they are listed. Run sync again.')
    // It can move between two pages.
    if (meta.fromDate > start) start = meta.fromDate
    firstAsOf ??= asOf
    for (const day of rows) {
      if (!isChangedDay(day))
        throw new CommandError(`The service lists a change that is none: ${JSON.stringify(day)}.`)
      days.set(`${day.brandId}/${day.endpoint}/${day.date}`, day)
      token = day.changedAt
    }
  }
  const day = start.slice(0, 'YYYY-MM-DD'.length)
  return { days: [...days.values()], fromDate: day, token, asOf: firstAsOf ?? null }
}

/** Whether a day has what names of files and days are made of. */
const isChangedDay = ({ brandId, date, rows, digest, changedAt }: ChangedDay): boolean =>
  isUuid(brandId) &&
  isDay(date) &&
  Number.isSafeInteger(rows) &&
  /^[0-9a-f]{15}$/.test(digest) &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(changedAt)

/** A day of an endpoint and its number of rows. Days that are not needed are in the copy. */
export type KnownDay = { readonly date: string; readonly rows: number; readonly isNeeded: boolean }

/** What is fetched together. */
export type FetchWindow = Window & {
  readonly rows: number
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
      last = { ...last, to: date, rows: joined }
      windows[windows.length - 1] = last
    } else {
      last = { from: date, to: date, rows }
      windows.push(last)
    }
    between = 0
  }
  return windows
}
