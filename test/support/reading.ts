import { MARKED_DAYS } from './marks.ts'
import { type Brand, type Holder, type Realm, seat } from './tenants.ts'

/** Days before today at which something lies; negative for days to come. */
type Age = number

export type Asking = {
  readonly path: string
  /** A brand of the realm, or the id of none. */
  readonly brand: Brand | string
  readonly from: Age | undefined
  readonly to: Age | undefined
}

/** A genuine cursor: what it was handed out for, and after which day it goes on. */
export type Handed = Asking & { readonly after: Age }

/** What a page must be: its status, and the days of its rows in order. */
export type Outcome = { readonly status: number; readonly days: readonly Age[] }

const LOOKBACK: Readonly<Record<string, number>> = { pro: 90, agency: 180, enterprise: 1e9 }

/** Whether a key reads a brand now (specification, section 5). */
export const reads = (holder: Holder, brand: Brand): boolean =>
  brand.active && brand.org === holder.org && (holder.brands === null || holder.brands.includes(brand))

/** The status that the key and the plan alone give; 200 when both pass. */
export function statusOf(realm: Realm, { org, user, scope, revoked, expired }: Holder): number {
  const role = realm.roles.get(seat(org, user))
  const lives = scope === 'export' && !revoked && !expired && (role === 'owner' || role === 'admin')
  if (!lives) return 401
  return org.plan !== null && org.plan in LOOKBACK && org.status === 'active' ? 200 : 403
}

const bindingOf = ({ path, brand, from, to }: Asking): string =>
  JSON.stringify([path, typeof brand === 'string' ? brand : brand.id, from, to])

/** What a key gets of a page (contract, sections 1, 3 and 4). */
export function outcome(realm: Realm, holder: Holder, asking: Asking, cursor: Handed | undefined): Outcome {
  const refused = (status: number): Outcome => ({ status, days: [] })
  const gate = statusOf(realm, holder)
  if (gate !== 200) return refused(gate)
  const { brand, from = 30, to } = asking
  if (asking.from !== undefined && to !== undefined && asking.from < to) return refused(400)
  if (cursor !== undefined && bindingOf(cursor) !== bindingOf(asking)) return refused(400)
  if (typeof brand === 'string' || !reads(holder, brand)) return refused(404)
  const lookback = LOOKBACK[holder.org.plan ?? ''] ?? 0
  // A run that crosses midnight keeps its first day, which has just left the plan's reach.
  const reach = cursor === undefined || from > lookback + 1 ? lookback : lookback + 1
  const days = MARKED_DAYS.filter((age) => age <= Math.min(from, reach) && age >= (to ?? 0))
  return { status: 200, days: days.filter((age) => cursor === undefined || age < cursor.after).toReversed() }
}
