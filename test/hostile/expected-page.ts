import { MARKED_DAYS } from './tagged-rows.ts'
import { type Brand, type Holder, seat, type Tenants } from './tenants.ts'

/** Days before today at which something lies; negative for days to come. */
type Age = number

export type Asking = {
  readonly path: string
  /** A brand of the tenants, or the id of none. */
  readonly brand: Brand | string
  readonly from: Age | undefined
  readonly to: Age | undefined
}

/** What a page must be: its status, and the days of its rows in order. */
export type Outcome = { readonly status: number; readonly days: readonly Age[] }

const LOOKBACK: Readonly<Record<string, number>> = { pro: 90, agency: 180, enterprise: 1e9 }

/** Whether a key reads a brand now (specification, section 5). */
export const reads = (holder: Holder, brand: Brand): boolean =>
  brand.active && brand.org === holder.org && (holder.brands === null || holder.brands.includes(brand))

/** The status that the key and the plan alone give; 200 when both pass. */
export function statusOf(tenants: Tenants, { org, user, scope, revoked, expired }: Holder): number {
  const role = tenants.roles.get(seat(org, user))
  const lives = scope === 'export' && !revoked && !expired && (role === 'owner' || role === 'admin')
  if (!lives) return 401
  return org.plan !== null && org.plan in LOOKBACK && org.status === 'active' ? 200 : 403
}

/** What a key gets of a page (docs/specification.md). */
export function outcome(tenants: Tenants, holder: Holder, asking: Asking): Outcome {
  const { brand, from = asking.path === '/changes' ? Number.POSITIVE_INFINITY : 30, to } = asking
  const refused = (status: number): Outcome => ({ status, days: [] })
  const gate = statusOf(tenants, holder)
  if (gate !== 200) return refused(gate)
  // Also when `to` alone lies before the default start.
  if (to !== undefined && from < to) return refused(400)
  if (typeof brand === 'string' || !reads(holder, brand)) return refused(404)
  const first = Math.min(from, LOOKBACK[holder.org.plan ?? ''] ?? 0)
  return { status: 200, days: MARKED_DAYS.filter((age) => age <= first && age >= (to ?? 0)).toReversed() }
}
