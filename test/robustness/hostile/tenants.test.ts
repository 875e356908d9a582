import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { call } from '../../fixtures/call.ts'
import { clearOfMidnight, daysAgo } from '../../fixtures/clock.ts'
import { checkProperty, scaledTimeout } from '../../fixtures/effort.ts'
import { findEndpoints } from '../../fixtures/endpoints.ts'
import { brand, database, organization } from '../../fixtures/rows.ts'
import { type Asking, outcome, reads, statusOf } from '../../hostile/expected-page.ts'
import { markBrand, marksOf } from '../../hostile/tagged-rows.ts'
import { beginning, change, place, seldom } from '../../hostile/tenant-changes.ts'
import { at, type Brand, createTenants, type Holder, type Tenants } from '../../hostile/tenants.ts'

const db = database()
const endpoints = await findEndpoints()

const pool: { id: string; mark: number }[] = []

beforeAll(async () => {
  await clearOfMidnight(180_000)
  const empty = await organization(db)
  for (let mark = 1; mark <= 8; mark += 1) {
    const id = await brand(db, empty, { name: `row ${mark}0000` })
    await markBrand(db, endpoints, { brandId: id, mark })
    pool.push({ id, mark })
  }
}, 240_000)

const idOf = (its: Brand | string): string => (typeof its === 'string' ? its : its.id)
const dateOf = (age: number | undefined) => (age === undefined ? undefined : daysAgo(age))

/** Expects no marks of brands that a key cannot read. */
function watch(tenants: Tenants, holder: Holder, marks: readonly number[]): void {
  const readable = tenants.brands.filter((brand) => reads(holder, brand)).map(({ mark }) => mark)
  const foreign = marks.filter((mark) => !readable.includes(mark) || statusOf(tenants, holder) !== 200)
  expect(foreign).toEqual([])
}

async function judgePage(tenants: Tenants, holder: Holder, asking: Asking): Promise<void> {
  const { status, days } = outcome(tenants, holder, asking)
  const { path, brand, from, to } = asking
  const query = {
    brandId: idOf(brand),
    fromDate: dateOf(from),
    toDate: dateOf(to),
  }
  const answer = await call(path, { key: holder.key, query })
  const rows = answer.data ?? []
  const marks = marksOf(rows)
  watch(tenants, holder, marks)
  const asked = JSON.stringify([path, query])
  expect([answer.status, rows.map(({ date }) => date)], asked).toEqual([status, days.map(daysAgo)])
  const mark = typeof brand === 'string' ? [] : [brand.mark]
  expect([...new Set(marks)], asked).toEqual(days.length > 0 ? mark : [])
}

async function judgeBrands(tenants: Tenants, holder: Holder, path: string): Promise<void> {
  const status = statusOf(tenants, holder)
  const answer = await call(path, { key: holder.key })
  const listed = answer.data ?? []
  watch(tenants, holder, marksOf(listed))
  const readable = status === 200 ? tenants.brands.filter((brand) => reads(holder, brand)) : []
  expect([answer.status, listed.map(({ id }) => id)]).toEqual([
    status,
    readable.toSorted((one, other) => one.mark - other.mark).map(({ id }) => id),
  ])
}

const from = fc.constantFrom(undefined, 500, 400, 181, 91, 90, 3, 0, -1)
const to = fc.constantFrom(undefined, undefined, 179, 89, 1, 0, -400)
const path = fc.constantFrom(...endpoints.filter(({ kind }) => kind !== 'brands').map(({ path }) => path))

/** One request: a key, and the brands or a page of a brand. */
const request = fc
  .record({ holder: place, path, brand: place, own: fc.boolean(), unknown: seldom, from, to, lists: seldom })
  .map(({ holder, path, brand, own, unknown, from, to, lists }) => (tenants: Tenants) => {
    const its = at(tenants.holders, holder)
    if (lists) return judgeBrands(tenants, its, '/brands')
    const near = tenants.brands.filter((each) => reads(its, each))
    const known = at(own && near.length > 0 ? near : tenants.brands, brand)
    return judgePage(tenants, its, { path, brand: unknown ? randomUUID() : known, from, to })
  })

const rounds = fc.array(fc.tuple(change, fc.array(request, { minLength: 8, maxLength: 12 })), {
  minLength: 10,
  maxLength: 14,
})

test('no sequence of requests and changes gives a key a row that it may not read', {
  timeout: scaledTimeout(300_000),
}, async () => {
  const property = fc.asyncProperty(beginning, rounds, async (plan, rounds) => {
    const tenants = await createTenants(db, plan, pool)
    for (const [alter, requests] of rounds) {
      await Promise.all(requests.map((judge) => judge(tenants)))
      await alter(db, tenants)
    }
  })
  await checkProperty(property, 16)
})
