import fc from 'fast-check'
import type pg from 'pg'
import { PAID_PLANS } from '../../lib/access/plans.ts'
import { at, type Plan, setBrand, setHolder, setRole, setSubscription, type Tenants } from './tenants.ts'

/** An index of a list. */
export const place = fc.nat({ max: 999 })

/** True once in so many times. */
const oneIn = (number: number) => fc.nat({ max: number - 1 }).map((each) => each === 0)
export const seldom = oneIn(20)

const plan = oneIn(8).chain((is) => fc.constantFrom(...(is ? ['lite', null] : PAID_PLANS)))
const status = seldom.chain((is) => fc.constantFrom(...(is ? ['past_due', 'canceled'] : ['active'])))
const role = oneIn(8).chain((is) => fc.constantFrom(...(is ? ['member', 'gone'] : ['owner', 'admin'])))
const list = fc.option(fc.array(place, { maxLength: 4 }), { nil: null })

/** An initial state. */
export const beginning: fc.Arbitrary<Plan> = fc.record({
  orgs: fc.array(fc.record({ plan, status }), { minLength: 2, maxLength: 4 }),
  users: fc.integer({ min: 1, max: 3 }),
  roles: fc.array(role, { minLength: 12, maxLength: 12 }),
  brands: fc.array(fc.record({ org: place, active: oneIn(4).map((is) => !is) }), {
    minLength: 4,
    maxLength: 8,
  }),
  holders: fc.array(
    fc.record({
      org: place,
      user: place,
      scope: seldom.map((is) => (is ? 'tools' : 'export')),
      brands: list,
      revoked: seldom,
      expired: seldom,
    }),
    { minLength: 3, maxLength: 6 },
  ),
})

/** One change of the state. */
export const change = fc.oneof(
  fc.tuple(place, plan, status).map(
    ([org, plan, status]) =>
      (db: pg.Pool, tenants: Tenants) =>
        setSubscription(db, at(tenants.orgs, org), plan, status),
  ),
  fc.tuple(place, place, role).map(
    ([org, user, role]) =>
      (db: pg.Pool, tenants: Tenants) =>
        setRole(db, tenants, at(tenants.orgs, org), at(tenants.users, user), role),
  ),
  fc.tuple(place, place, oneIn(3)).map(
    ([its, org, off]) =>
      (db: pg.Pool, tenants: Tenants) =>
        setBrand(db, at(tenants.brands, its), { org: at(tenants.orgs, org), active: !off }),
  ),
  fc
    .tuple(place, list, seldom, seldom)
    .map(([its, listed, revoked, expired]) => (db: pg.Pool, tenants: Tenants) => {
      const brands = listed?.map((each) => at(tenants.brands, each)) ?? null
      return setHolder(db, at(tenants.holders, its), { brands, revoked, expired })
    }),
)
