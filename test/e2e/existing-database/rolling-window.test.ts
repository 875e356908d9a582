import { afterAll, expect, test } from 'vitest'
import { logAll } from '../../../drizzle/db/refresh.ts'
import { call } from '../../fixtures/call.ts'
import { clearOfMidnight, daysAgo } from '../../fixtures/clock.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { startOwnService } from '../../fixtures/own-service.ts'
import { answer, place, prompt } from '../../fixtures/rows.ts'
import { prepareMapped } from '../../fixtures/schema.ts'
import { tenant } from '../../fixtures/tenant.ts'

// Another application's tables without triggers: each refresh computes the last days again.
const { db, url } = await isolatedPool(prepareMapped)
const service = await startOwnService({ databaseUrl: url })
afterAll(() => service.close())
const its = await tenant(db)
const said = { ...(await place(db)), prompt: await prompt(db, its.brandId) }

const say = (day: string) => answer(db, { ...said, at: `${day}T09:00:00Z` })

const setWindow = async (days: number, firstDay = '-infinity') => {
  await db.query(
    'truncate daily.refresh_queue, daily.queued_causes, daily.queued_brands, daily.rolling_window',
  )
  await db.query('insert into daily.rolling_window (days, first_day) values ($1, $2)', [days, firstDay])
}

/** A pass as it runs on a day. */
async function refreshOn(day: string): Promise<void> {
  await db.query('select daily.start_refresh(true, $1)', [day])
  for (let done = false; !done; ) {
    const { rows } = await db.query(`select * from daily.refresh(null, '1 min', 30)`)
    done = rows[0].done
    expect(rows[0].failure).toBeNull()
  }
}

/** The stored days of visibility, each with its answers. */
async function stored(): Promise<Record<string, number>> {
  const { rows } = await db.query<{ day: string; answers: number }>(
    'select date::text as day, total_prompts as answers from daily.visibility order by date',
  )
  return Object.fromEntries(rows.map(({ day, answers }) => [day, answers]))
}

async function asOf(): Promise<string | null> {
  const { key, brandId } = its
  const page = await call('/visibility', { service: service.url, key, query: { brandId } })
  expect(page.status).toBe(200)
  return page.headers.get('X-Data-As-Of')
}

test('the first pass computes every day', async () => {
  await setWindow(3)
  await say('2026-01-05')
  await say('2026-10-01')
  await say('2026-10-08')
  expect(await asOf()).toBeNull()
  await refreshOn('2026-10-10')
  expect(await stored()).toEqual({ '2026-01-05': 1, '2026-10-01': 1, '2026-10-08': 1 })
  const passed = await asOf()
  expect(passed).not.toBeNull()
  await db.query('select daily.resolve()')
  expect(await asOf(), 'of the last pass, whatever else resolves the log').toBe(passed)
})

test('rows of the last three days and later days are computed, and are gone when they are deleted', async () => {
  await say('2026-10-08')
  await say('2026-10-10')
  await say('2026-10-12')
  expect(await stored()).toMatchObject({ '2026-10-08': 1 })
  await refreshOn('2026-10-10')
  expect(await stored()).toEqual({
    '2026-01-05': 1,
    '2026-10-01': 1,
    '2026-10-08': 2,
    '2026-10-10': 1,
    '2026-10-12': 1,
  })
  await db.query(`delete from answers where answered_at >= '2026-10-10'`)
  await refreshOn('2026-10-10')
  expect(await stored()).toEqual({ '2026-01-05': 1, '2026-10-01': 1, '2026-10-08': 2 })
})

test('an edit of an earlier day takes a refresh of all days', async () => {
  await say('2026-10-07')
  await say('2026-10-01')
  await db.query(`update answers set error = 'withdrawn' where answered_at < '2026-02-01'`)
  await refreshOn('2026-10-10')
  expect(await stored()).toEqual({ '2026-01-05': 1, '2026-10-01': 1, '2026-10-08': 2 })
  await logAll(db)
  await refreshOn('2026-10-10')
  expect(await stored()).toEqual({ '2026-10-01': 2, '2026-10-07': 1, '2026-10-08': 2 })
})

// The last refresh was of the 10th and left the 8th open; of three days that end with the 20th the first is the 18th.
test('days that passed without a refresh are computed by the next', async () => {
  await say('2026-10-07')
  await say('2026-10-08')
  await say('2026-10-12')
  await say('2026-10-19')
  await refreshOn('2026-10-20')
  expect(await stored()).toEqual({
    '2026-10-01': 2,
    '2026-10-07': 1,
    '2026-10-08': 3,
    '2026-10-12': 1,
    '2026-10-19': 1,
  })
  // More days reach further back at once.
  await say('2026-10-18')
  await db.query('update daily.rolling_window set days = 10')
  await refreshOn('2026-10-23')
  expect(await stored()).toMatchObject({ '2026-10-18': 1 })
})

test('no pass starts for an hour while days of the last one wait', async () => {
  const start = async () =>
    (await db.query(`select added from daily.start_refresh(false, '2026-10-23')`)).rows[0].added
  await refreshOn('2026-10-23')
  expect(await start()).toBeGreaterThan(0)
  expect(await start()).toBe(0)
  await db.query(`update daily.rolling_window set started_at = started_at - interval '61 minutes'`)
  expect(await start()).toBeGreaterThan(0)
  await refreshOn('2026-10-23')
})

test('the scheduled Worker computes the last days', async () => {
  await clearOfMidnight(30_000)
  await setWindow(3, daysAgo(3))
  for (const age of [0, 2, 4]) await say(daysAgo(age))
  await service.runCron('refresh')
  const days = await stored()
  expect([days[daysAgo(0)], days[daysAgo(2)], days[daysAgo(4)]]).toEqual([1, 1, undefined])
})

// Our own tables have checks against such instants; an application's may not.
test('rows dated outside of the calendar are ignored and delay nothing', async () => {
  await setWindow(3)
  await db.query('delete from answers')
  for (const at of ['infinity', '-infinity', '10000-01-01T00:00:00Z']) await answer(db, { ...said, at })
  await say('2026-10-21')
  await refreshOn('2026-10-23')
  expect(await stored()).toEqual({ '2026-10-21': 1 })
  await say('2026-10-22')
  await refreshOn('2026-10-23')
  expect(await stored()).toEqual({ '2026-10-21': 1, '2026-10-22': 1 })
})

/** The dates of the documents of /days after a cursor, and the next cursor. */
async function daysAfter(cursor: string) {
  const headers = { 'X-API-Key': its.key }
  const response = await fetch(`${service.url}/api/export/v1/days?endpoint=visibility&cursor=${cursor}`, {
    headers,
  })
  const { data, pagination }: { data: { date: string }[]; pagination: { nextCursor: string } } =
    await response.json()
  return { dates: data.map(({ date }) => date), cursor: pagination.nextCursor }
}

test('a brand that was inactive in a pass comes whole after the pass in which it is active again', async () => {
  await setWindow(3)
  await db.query('delete from answers')
  await say('2026-01-05')
  await say('2026-10-22')
  await logAll(db)
  await refreshOn('2026-10-23')
  const { cursor } = await daysAfter('')
  const setActive = (active: boolean) =>
    db.query('update brands set active = $2 where id = $1', [its.brandId, active])
  await setActive(false)
  await refreshOn('2026-10-23')
  expect((await daysAfter(cursor)).dates).toEqual([])
  await setActive(true)
  expect((await daysAfter(cursor)).dates).toEqual([])
  await refreshOn('2026-10-23')
  const returned = await daysAfter(cursor)
  expect(returned.dates).toEqual(expect.arrayContaining(['2026-01-05', '2026-10-22']))
  await refreshOn('2026-10-23')
  expect((await daysAfter(returned.cursor)).dates).toEqual([])
})

test.each([
  ['infinity', '9999-12-31T23:59:59.999Z'],
  ['12026-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'],
  ['0044-03-15T00:00:00Z BC', '0001-01-01T00:00:00.000Z'],
  ['-infinity', '0001-01-01T00:00:00.000Z'],
])('a brand created at %s has the nearest time that clients can parse', async (stored, createdAt) => {
  await db.query('update brands set created_at = $1', [stored])
  expect((await call('/brands', { service: service.url, key: its.key })).data).toMatchObject([{ createdAt }])
})
