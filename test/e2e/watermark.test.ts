import { afterAll, expect, test } from 'vitest'
import { call } from '../support/call.ts'
import { isolatedPool } from '../support/isolated.ts'
import { startOwnService } from '../support/own-service.ts'
import { tenant } from '../support/tenant.ts'
import { answer, type Place, place, prompt, refresh } from '../support/world.ts'

// Apart from the other tests, whose refreshes would process the queue entries of these tests.
const { db, url: databaseUrl } = await isolatedPool()
const service = await startOwnService({ databaseUrl })
afterAll(() => service.close())

async function scene() {
  const its = await tenant(db)
  const said: Place & { prompt: string } = { ...(await place(db)), prompt: await prompt(db, its.brandId) }
  await answer(db, { ...said, at: '2026-10-01T09:00:00Z' })
  await refresh(db)
  const watermark = async (path: string, fromDate?: string, toDate?: string) => {
    const page = await call(path, {
      service: service.url,
      key: its.key,
      query: { brandId: its.brandId, fromDate, toDate },
    })
    expect(page.status).toBe(200)
    return page.headers.get('X-Data-Settled-Through')
  }
  return { ...its, said, watermark }
}

test('is the last day of an up-to-date window, and today at the latest', async () => {
  const { watermark } = await scene()
  expect(await watermark('/visibility', '2026-10-01', '2026-10-05')).toBe('2026-10-05')
  const before = new Date().toISOString().slice(0, 10)
  const open = await watermark('/visibility', '2026-10-01', '9999-12-31')
  expect([before, new Date().toISOString().slice(0, 10)]).toContain(open)
})

test('is the day before the first queued day, for the queued metrics, until the refresh', async () => {
  const { said, watermark } = await scene()
  await answer(db, {
    ...said,
    at: '2026-10-03T09:00:00Z',
    phrases: [{ polarity: 'neutral', confidence: '1' }],
  })
  expect(await watermark('/sentiment', '2026-10-01', '2026-10-05')).toBe('2026-10-02')
  expect(await watermark('/citations', '2026-10-01', '2026-10-05')).toBe('2026-10-05')
  expect(await watermark('/changes', '2026-10-01', '2026-10-05')).toBe('2026-10-02')
  await refresh(db)
  expect(await watermark('/sentiment', '2026-10-01', '2026-10-05')).toBe('2026-10-05')
})

test('is absent when the first day is queued, and not affected by days outside the window', async () => {
  const { said, watermark } = await scene()
  await answer(db, { ...said, at: '2026-10-03T09:00:00Z' })
  for (const path of ['/visibility', '/changes'])
    expect(await watermark(path, '2026-10-03', '2026-10-05')).toBeNull()
  expect(await watermark('/visibility', '2026-10-04', '2026-10-05')).toBe('2026-10-05')
  expect(await watermark('/visibility', '2026-10-01', '2026-10-02')).toBe('2026-10-02')
  expect(await watermark('/visibility', '2026-10-02', '2026-10-05')).toBe('2026-10-02')
})

test('is absent when the first day of the calendar is queued', async () => {
  const { said, watermark } = await scene()
  await answer(db, { ...said, at: '0001-01-01T09:00:00Z' })
  expect(await watermark('/visibility', '0001-01-01', '2026-10-05')).toBeNull()
})

test('is the day before a change in repeatable read, for every brand, until the refresh looks it up', async () => {
  const { said } = await scene()
  const { watermark } = await scene()
  await db.query(
    `begin isolation level repeatable read;
     insert into answers (prompt_id, model_id, market_id, answered_at)
     values ('${said.prompt}', '${said.model}', '${said.market}', '2026-10-03T09:00:00Z');
     commit`,
  )
  expect(await watermark('/visibility', '2026-10-01', '2026-10-05')).toBe('2026-10-02')
  await refresh(db)
  expect(await watermark('/visibility', '2026-10-01', '2026-10-05')).toBe('2026-10-05')
})

test('is absent while an entry without a date is queued', async () => {
  const { brandId, watermark } = await scene()
  await db.query(`update brands set aliases = '{Apex}' where id = $1`, [brandId])
  expect(await watermark('/visibility', '2026-10-01', '2026-10-05')).toBeNull()
  expect(await watermark('/competitors', '2026-10-01', '2026-10-05')).toBe('2026-10-05')
})
