import type { ChangedDay, ExportApi } from '../src/index.ts'
import { isDay } from './days.ts'
import { CommandError, MovedError } from './errors.ts'
import { isUuid } from './text.ts'

/** Days of a brand whose rows changed, or all days. */
export type Changes = {
  readonly days: readonly ChangedDay[]
  /** The first day that the plan reached. */
  readonly fromDate: string
  /** From where to list next; null when nothing was ever listed. */
  readonly since: string | null
  /** Whether it lists every day that has rows. */
  readonly isFull: boolean
  /** Every change that was committed before this time was listed; null when the service does not know. */
  readonly asOf: string | null
}

/** A brand while it is synced. */
export type BrandRun = {
  readonly id: string
  readonly name: string
  /** The greatest `changed_at` up to which it was read, and the first day that the plan reached then. */
  since: string | null
  fromDate: string
  /** As that of {@link Changes}, when it was read in this run. */
  asOf?: string | null
  /** Why what was fetched last is not what was listed; empty when it is. */
  problem?: string
}

type Brand = Pick<BrandRun, 'id' | 'since' | 'fromDate'>
type Listing = {
  readonly api: ExportApi
  readonly fromDate: string | undefined
  readonly toDate?: string | undefined
}

/**
 * Lists what changed of the brands that were read before, up to the same \`since\`, with one request per page for all.
 * Returns the changes by brand; empty when no brand was read before. Throws `MovedError` when the key reads other
 * brands than those with the digest: the list can lack changes of a brand.
 */
export async function listTogether(
  { brandsDigest, ...listing }: Listing & { readonly brandsDigest: string },
  brands: readonly Brand[],
): Promise<ReadonlyMap<string, Changes>> {
  const together = brands.filter(({ since }) => since !== null)
  const [first] = together
  if (!first?.since) return new Map()
  const byBrand = new Map<string, ChangedDay[]>(together.map(({ id }) => [id, []]))
  const query =
    together.length === 1 ? { brandId: first.id, brandsDigest: null } : { brandId: undefined, brandsDigest }
  const list = await readList(listing, { ...query, since: first.since })
  for (const day of list.days) byBrand.get(day.brandId)?.push(day)
  return new Map(
    together
      // When the plan reaches further back than before, a brand needs all days.
      .filter(({ fromDate }) => list.fromDate >= fromDate)
      .map(({ id }) => [id, { ...list, days: byBrand.get(id) ?? [], isFull: false }]),
  )
}

/**
 * Lists what changed of one brand; every day when it was not read before, and when the plan reaches further back than
 * then. `received` is a `changed_at` that was received before: changes that the list does not have are later.
 */
export async function listAlone(listing: Listing, brand: Brand, received: string | null): Promise<Changes> {
  const { id, since, fromDate } = brand
  const list = await readList(listing, { brandId: id, brandsDigest: null, since: since ?? undefined })
  if (since !== null && list.fromDate < fromDate)
    return listAlone(listing, { ...brand, since: null }, received)
  return { ...list, since: later(list.since, received) || null, isFull: since === null }
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
  let since = query.since ?? null
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
      since = day.changedAt
    }
  }
  const day = start.slice(0, 'YYYY-MM-DD'.length)
  return { days: [...days.values()], fromDate: day, since, asOf: firstAsOf ?? null }
}

/** Whether a day has what names of files and days are made of. */
const isChangedDay = ({ brandId, date, rows, digest, changedAt }: ChangedDay): boolean =>
  isUuid(brandId) &&
  isDay(date) &&
  Number.isSafeInteger(rows) &&
  /^[0-9a-f]{15}$/.test(digest) &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(changedAt)
