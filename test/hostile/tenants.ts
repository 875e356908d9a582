import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { daysAgo } from '../fixtures/clock.ts'
import { exportKey, insert } from '../fixtures/rows.ts'

/** An organization as it is now; a null plan is no subscription. */
export type Org = { readonly id: string; plan: string | null; status: string }

/** A brand as it is now; its rows carry the mark. */
export type Brand = { readonly id: string; readonly mark: number; org: Org; active: boolean }

/** A key as it is now. */
export type Holder = {
  readonly id: string
  readonly key: string
  readonly org: Org
  readonly user: string
  readonly scope: string
  brands: readonly Brand[] | null
  revoked: boolean
  expired: boolean
}

/** Several organizations with their users, brands and keys: the test's own model of the database. */
export type Tenants = {
  readonly orgs: readonly Org[]
  readonly users: readonly string[]
  /** Roles by {@link seat}. */
  readonly roles: Map<string, string>
  readonly brands: readonly Brand[]
  readonly holders: readonly Holder[]
}

/** The key of a role: a user in an organization. */
export const seat = (org: Org, user: string): string => `${org.id} ${user}`

/** An initial state; numbers are indices of its lists, modulo their lengths. */
export type Plan = {
  readonly orgs: readonly { readonly plan: string | null; readonly status: string }[]
  readonly users: number
  /** Dealt out to every user in every organization. */
  readonly roles: readonly string[]
  readonly brands: readonly { readonly org: number; readonly active: boolean }[]
  readonly holders: readonly {
    readonly org: number
    readonly user: number
    readonly scope: string
    readonly brands: readonly number[] | null
    readonly revoked: boolean
    readonly expired: boolean
  }[]
}

/** The item at a place, counted round and round. */
export function at<Item>(items: readonly Item[], place: number): Item {
  const item = items[place % items.length]
  if (item === undefined) throw new RangeError('The list is empty')
  return item
}

/** Creates the tenants, with brands of a pool whose rows are stored already. */
export async function createTenants(
  db: pg.Pool,
  plan: Plan,
  pool: readonly { id: string; mark: number }[],
): Promise<Tenants> {
  const orgs = plan.orgs.map((org) => ({ id: randomUUID(), ...org }))
  const users = Array.from({ length: plan.users }, () => randomUUID())
  await insert(
    db,
    'organizations',
    orgs.map(({ id }) => ({ id, name: 'An organization' })),
  )
  await insert(
    db,
    'users',
    users.map((id) => ({ id, email: `${id}@mail.example` })),
  )
  const brands = plan.brands.map(({ org, active }, index) => ({
    ...at(pool, index),
    org: at(orgs, org),
    active,
  }))
  const tenants: Tenants = { orgs, users, roles: new Map(), brands, holders: [] }
  for (const org of orgs) await setSubscription(db, org, org.plan, org.status)
  for (const [index, [org, user]] of orgs
    .flatMap((org) => users.map((user) => [org, user] as const))
    .entries()) {
    await setRole(db, tenants, org, user, at(plan.roles, index))
  }
  for (const brand of brands) await setBrand(db, brand, brand)
  const holders = await Promise.all(
    plan.holders.map(async ({ org, user, brands: listed, scope, ...state }) => {
      const its = { org: at(orgs, org), user: at(users, user), scope }
      const minted = await exportKey(db, { id: its.org.id, owner: its.user }, { scope })
      const holder = {
        ...its,
        ...minted,
        brands: listed?.map((place) => at(brands, place)) ?? null,
        ...state,
      }
      await setHolder(db, holder, holder)
      return holder
    }),
  )
  return { ...tenants, holders }
}

/** Gives an organization a subscription, or takes it away. */
export async function setSubscription(
  db: pg.Pool,
  org: Org,
  plan: string | null,
  status: string,
): Promise<void> {
  Object.assign(org, { plan, status })
  await db.query('delete from subscriptions where organization_id = $1', [org.id])
  if (plan !== null) await insert(db, 'subscriptions', [{ organization_id: org.id, plan, status }])
}

/** Gives a user a role in an organization; any other word removes the membership. */
export async function setRole(
  db: pg.Pool,
  { roles }: Tenants,
  org: Org,
  user: string,
  role: string,
): Promise<void> {
  roles.set(seat(org, user), role)
  await db.query('delete from memberships where organization_id = $1 and user_id = $2', [org.id, user])
  if (!['owner', 'admin', 'member'].includes(role)) return
  await insert(db, 'memberships', [{ organization_id: org.id, user_id: user, role }])
}

/** Moves a brand to an organization, and switches it on or off. */
export async function setBrand(
  db: pg.Pool,
  brand: Brand,
  { org, active }: Pick<Brand, 'org' | 'active'>,
): Promise<void> {
  Object.assign(brand, { org, active })
  await db.query('update brands set organization_id = $2, active = $3 where id = $1', [
    brand.id,
    org.id,
    active,
  ])
}

/** Limits a key to brands, revokes it or lets it expire, or undoes that. */
export async function setHolder(
  db: pg.Pool,
  holder: Holder,
  state: Pick<Holder, 'brands' | 'revoked' | 'expired'>,
): Promise<void> {
  const { brands, revoked, expired } = Object.assign(holder, state)
  await db.query('update api_keys set brand_ids = $2, revoked_at = $3, expires_at = $4 where id = $1', [
    holder.id,
    brands?.map(({ id }) => id) ?? null,
    revoked ? new Date() : null,
    `${daysAgo(expired ? 1 : -9)}T00:00:00Z`,
  ])
}
