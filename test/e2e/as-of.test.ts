import { afterAll, expect, test } from 'vitest'
import { call } from '../fixtures/call.ts'
import { isolatedPool } from '../fixtures/isolated-database.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { answer, brand, type Place, place, prompt, refresh } from '../fixtures/rows.ts'
import { type Tenant, tenant } from '../fixtures/tenant.ts'

// Apart from the other tests, whose refreshes would process the changes of these tests.
const { db, url: databaseUrl } = await isolatedPool()
const service = await startOwnService({ databaseUrl })
afterAll(() => service.close())

async function asOf({ key, brandId }: Tenant, path = '/visibility'): Promise<string | null> {
  const page = await call(path, { service: service.url, key, query: { brandId } })
  expect(page.status).toBe(200)
  return page.headers.get('X-Data-As-Of')
}

/** A new service has no copy of an earlier check. */
async function dataAsOf(): Promise<string | null> {
  const { url, close } = await startOwnService({ databaseUrl })
  const response = await fetch(`${url}/api/export/v1/healthz`)
  const { dataAsOf } = await response.json()
  await close()
  return dataAsOf
}

/** The database's clock, in the form of the header. */
async function clock(): Promise<string> {
  const { rows } = await db.query('select clock_timestamp() as now')
  return rows[0].now.toISOString()
}

async function said(its: Tenant): Promise<Place & { prompt: string; at: string }> {
  return { ...(await place(db)), prompt: await prompt(db, its.brandId), at: '2026-10-01T09:00:00Z' }
}

test('X-Data-As-Of is absent before the first refresh, and in the health check null', async () => {
  const its = await tenant(db)
  await db.query('update daily.progress set as_of = default')
  expect([await asOf(its), await asOf(its, '/changes'), await dataAsOf()]).toEqual([null, null, null])
  await refresh(db)
  for (const path of ['/visibility', '/changes']) expect(await asOf(its, path)).toMatch(/^\d{4}-.*\.\d{3}Z$/)
})

test('X-Data-As-Of lies between the commits that are served and those that are not', async () => {
  const its = await tenant(db)
  const answered = await said(its)
  const before = await clock()
  await refresh(db)
  const first = await asOf(its)
  expect((first ?? '') >= before).toBe(true)
  await answer(db, answered)
  const committed = await clock()
  expect(await asOf(its)).toBe(first)
  await db.query('select daily.resolve()')
  expect(await asOf(its)).toBe(first)
  await refresh(db)
  const next = await asOf(its)
  expect((next ?? '') >= committed && (next ?? '') <= (await clock())).toBe(true)
})

test('X-Data-As-Of is not held back by what waits for another brand, as the health check is', async () => {
  const [waiting, current] = [await tenant(db), await tenant(db)]
  await refresh(db)
  await answer(db, await said(waiting))
  const committed = await clock()
  await db.query('select daily.resolve()')
  expect(((await asOf(current)) ?? '') >= committed).toBe(true)
  expect(((await asOf(waiting)) ?? '') < committed).toBe(true)
  expect(await dataAsOf()).toBe(await asOf(waiting))
  await refresh(db)
})

test('X-Data-As-Of of /changes without a brand is the least of the brands that the key reads', async () => {
  const [waiting, other] = [await tenant(db), await tenant(db)]
  const current = { ...waiting, brandId: await brand(db, waiting.org) }
  await refresh(db)
  await answer(db, await said(waiting))
  await answer(db, await said(other))
  await db.query('select daily.resolve()')
  const ofAll = async () =>
    (await call('/changes', { service: service.url, key: waiting.key })).headers.get('X-Data-As-Of')
  expect(await ofAll()).toBe(await asOf(waiting))
  expect((await asOf(waiting)) !== (await asOf(current))).toBe(true)
  await db.query('update api_keys set brand_ids = array[$2::uuid] where id = $1', [
    waiting.keyId,
    current.brandId,
  ])
  expect(await ofAll()).toBe(await asOf(current))
  await db.query(`update api_keys set brand_ids = '{}' where id = $1`, [waiting.keyId])
  expect(await ofAll()).toBe(await asOf({ ...other, brandId: await brand(db, other.org) }))
  await refresh(db)
})

test('X-Data-As-Of is before what waits to be computed, after the clock of the system is set back', async () => {
  const [waiting, other] = [await tenant(db), await tenant(db)]
  const { prompt: promptOfWaiting, ...at } = await said(waiting)
  const promptOfOther = await prompt(db, other.brandId)
  await refresh(db)
  await answer(db, { ...at, prompt: promptOfWaiting })
  await db.query('select daily.resolve()')
  // All this was while the clock was ahead.
  for (const table of ['progress', 'queued_brands', 'refresh_queue'])
    await db.query(`update daily.${table} set as_of = as_of + interval '1 hour'`)
  await answer(db, { ...at, prompt: promptOfOther })
  await db.query('select daily.resolve()')
  const before = await clock()
  for (const prompt of [promptOfWaiting, promptOfOther]) await answer(db, { ...at, prompt })
  await db.query('select daily.resolve()')
  for (const its of [waiting, other]) expect(((await asOf(its)) ?? '') <= before).toBe(true)
  await refresh(db)
  for (const its of [waiting, other]) expect(((await asOf(its)) ?? '') >= before).toBe(true)
})
