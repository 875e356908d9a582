import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BINDINGS, variables } from '../../../emulator/workers/bindings.ts'
import { signCursor } from '../../../lib/cursor.ts'
import { call } from '../../support/call.ts'
import { clearOfEnd, DAY, daysAgo } from '../../support/clock.ts'
import { hold, patience } from '../../support/effort.ts'
import { findEndpoints } from '../../support/endpoints.ts'
import { markBrand, marksOf } from '../../support/marks.ts'
import { type Asking, type Handed, outcome, reads, statusOf } from '../../support/reading.ts'
import { beginning, change, place, seldom } from '../../support/tenant-cases.ts'
import { at, type Brand, type Holder, type Realm, settle } from '../../support/tenants.ts'
import { brand, database, organization } from '../../support/world.ts'

const db = database()
const endpoints = await findEndpoints()
const { CURSOR_SECRET } = { ...BINDINGS, ...variables(process.env) }

/** The least that the key of a row can be beside its date: a cursor of it goes on after that day. */
const LEAST: Readonly<Record<string, readonly string[]>> = {
  '/visibility': ['', '00000000-0000-0000-0000-000000000000'],
  '/competitors': [''],
  '/citations': ['00000000-0000-0000-0000-000000000000'],
  '/citation-share': ['00000000-0000-0000-0000-000000000000'],
  '/sentiment': [],
  '/recommended-rate': ['false', ''],
}

/** Days before today on which no brand has a row. */
const BETWEEN = [401, 300, 150, 50, 10]

const pool: { id: string; mark: number }[] = []
const judged = new Map<number, number>()
let leaks = 0
let changes = 0

beforeAll(async () => {
  await clearOfEnd(DAY, 180_000)
  const nobody = await organization(db)
  for (let mark = 1; mark <= 8; mark += 1) {
    const id = await brand(db, nobody, { name: `row ${mark}0000` })
    await markBrand(db, endpoints, { brandId: id, mark })
    pool.push({ id, mark })
  }
}, 240_000)

afterAll(() => {
  const total = [...judged.values()].reduce((sum, count) => sum + count, 0)
  const each = [...judged].toSorted().map(([status, count]) => `${status}: ${count}`)
  console.log(
    `cross-tenant requests judged ${total}, leaks ${leaks} (${each.join(', ')}; ${changes} changes between)`,
  )
})

const idOf = (its: Brand | string): string => (typeof its === 'string' ? its : its.id)
const dateOf = (age: number | undefined) => (age === undefined ? undefined : daysAgo(age))

/** A cursor as the service hands it out. */
const seal = ({ path, brand, from, to, after }: Handed): Promise<string> => {
  const [fromDate, toDate] = [dateOf(from), dateOf(to)]
  const last = toDate ?? daysAgo(0)
  const window = { first: daysAgo(from ?? 30), last, end: `${last}T23:59:59.999Z` }
  const position = { window, after: [daysAgo(after), ...(LEAST[path] ?? [])] }
  return signCursor(position, { endpoint: path, brandId: idOf(brand), fromDate, toDate }, [CURSOR_SECRET])
}

/** Counts marks of brands that a key cannot read. */
function watch(realm: Realm, holder: Holder, marks: readonly number[]): void {
  const readable = realm.brands.filter((brand) => reads(holder, brand)).map(({ mark }) => mark)
  const foreign = marks.filter((mark) => !readable.includes(mark) || statusOf(realm, holder) !== 200)
  leaks += foreign.length
  expect(foreign).toEqual([])
}

const count = (status: number) => judged.set(status, (judged.get(status) ?? 0) + 1)

async function judgePage(realm: Realm, holder: Holder, asking: Asking, cursor?: Handed): Promise<void> {
  const { status, days } = outcome(realm, holder, asking, cursor)
  const { path, brand, from, to } = asking
  const query = {
    brandId: idOf(brand),
    fromDate: dateOf(from),
    toDate: dateOf(to),
    cursor: cursor && (await seal(cursor)),
  }
  const answer = await call(path, { key: holder.key, query })
  count(answer.status)
  const rows = answer.data ?? []
  const marks = marksOf(rows)
  watch(realm, holder, marks)
  const asked = JSON.stringify([path, query])
  expect([answer.status, rows.map(({ date }) => date)], asked).toEqual([status, days.map(daysAgo)])
  const mark = typeof brand === 'string' ? [] : [brand.mark]
  expect([...new Set(marks)], asked).toEqual(days.length > 0 ? mark : [])
}

async function judgeListing(realm: Realm, holder: Holder, path: string): Promise<void> {
  const status = statusOf(realm, holder)
  const answer = await call(path, { key: holder.key })
  count(answer.status)
  const listed = answer.data ?? []
  watch(realm, holder, marksOf(listed))
  const readable = status === 200 ? realm.brands.filter((brand) => reads(holder, brand)) : []
  expect([answer.status, listed.map(({ id }) => id)]).toEqual([
    status,
    readable.toSorted((one, other) => one.mark - other.mark).map(({ id }) => id),
  ])
}

const from = fc.constantFrom(undefined, 500, 400, 181, 91, 90, 3, 0, -1)
const to = fc.constantFrom(undefined, undefined, 179, 89, 1, 0, -400)
const paths = endpoints.filter(({ path }) => path in LEAST).map(({ path }) => path)
const path = fc.constantFrom(...paths)
const unset = Symbol('as it is asked for')
const mostlySame = <Value>(other: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 15, arbitrary: fc.constant(unset) }, { weight: 1, arbitrary: other })

/** One request: whose key, which brand, and a cursor of the same run, of another, or none. */
const request = fc
  .record({
    holder: place,
    path,
    brand: place,
    own: fc.boolean(),
    unknown: seldom,
    from,
    to,
    cursor: fc.option(
      fc.record({
        after: fc.constantFrom(...BETWEEN),
        path: mostlySame(path),
        brand: mostlySame(place),
        from: mostlySame(from),
        to: mostlySame(to),
      }),
      { nil: undefined },
    ),
    lists: seldom,
  })
  .map(({ holder, path, brand, own, unknown, from, to, cursor, lists }) => (realm: Realm) => {
    const its = at(realm.holders, holder)
    if (lists) return judgeListing(realm, its, '/brands')
    const near = realm.brands.filter((each) => reads(its, each))
    const known = at(own && near.length > 0 ? near : realm.brands, brand)
    const asking = { path, brand: unknown ? randomUUID() : known, from, to }
    if (cursor === undefined) return judgePage(realm, its, asking)
    return judgePage(realm, its, asking, {
      after: cursor.after,
      path: cursor.path === unset ? path : cursor.path,
      brand: cursor.brand === unset ? asking.brand : at(realm.brands, cursor.brand),
      from: cursor.from === unset ? from : cursor.from,
      to: cursor.to === unset ? to : cursor.to,
    })
  })

const rounds = fc.array(fc.tuple(change, fc.array(request, { minLength: 8, maxLength: 12 })), {
  minLength: 10,
  maxLength: 14,
})

test('no sequence of requests and changes gives a key a row that it may not read', {
  timeout: patience(300_000),
}, async () => {
  const property = fc.asyncProperty(beginning, rounds, async (plan, rounds) => {
    const realm = await settle(db, plan, pool)
    for (const [alter, requests] of rounds) {
      await Promise.all(requests.map((judge) => judge(realm)))
      await alter(db, realm)
      changes += 1
    }
  })
  await hold(property, 16)
})
