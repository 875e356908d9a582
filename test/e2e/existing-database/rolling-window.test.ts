import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enqueueAll, refreshAll } from '../../../drizzle/db/refresh.ts'
import type { Emulator } from '../../../emulator/start.ts'
import { call } from '../../support/call.ts'
import { clearOfEnd, DAY, daysAgo } from '../../support/clock.ts'
import type { OwnDatabase } from '../../support/database.ts'
import { isolatedDatabase } from '../../support/isolated.ts'
import { startOwnService } from '../../support/own-service.ts'
import { prepareMapped } from '../../support/schema.ts'
import { type Tenant, tenant } from '../../support/tenant.ts'
import { answer, type Place, place, prompt } from '../../support/world.ts'

// Another application's tables, without triggers: what changes is seen by computing the last days anew.
let own: OwnDatabase
let service: Emulator
let db: pg.Pool
let its: Tenant
let said: Place & { prompt: string }

beforeAll(async () => {
  own = await isolatedDatabase(prepareMapped)
  db = new pg.Pool({ connectionString: own.url, max: 4 })
  service = await startOwnService({ databaseUrl: own.url })
  its = await tenant(db)
  said = { ...(await place(db)), prompt: await prompt(db, its.brandId) }
})

afterAll(async () => {
  await service.close()
  await db.end()
  await own.drop()
})

const say = (day: string) => answer(db, { ...said, at: `${day}T09:00:00Z` })

const trail = async (days: number, settled = '-infinity') => {
  await db.query('truncate daily.refresh_queue, daily.rolling_window')
  await db.query('insert into daily.rolling_window (days, watermark) values ($1, $2)', [days, settled])
}

/** A refresh as it runs on a day. */
async function refreshOn(day: string, all = false): Promise<void> {
  const client = await db.connect()
  try {
    if (all) await enqueueAll(client)
    await client.query('select daily.enqueue_rolling_window(true, $1)', [day])
    await refreshAll(client, undefined, { brands: 1, days: 1 })
  } finally {
    client.release()
  }
}

/** The stored days of visibility, each with its answers. */
async function stored(): Promise<Record<string, number>> {
  const { rows } = await db.query<{ day: string; answers: number }>(
    'select date::text as day, total_prompts as answers from daily.visibility order by date',
  )
  return Object.fromEntries(rows.map(({ day, answers }) => [day, answers]))
}

async function settled(fromDate: string, toDate: string): Promise<string | null> {
  const { key, brandId } = its
  const page = await call('/visibility', {
    service: service.url,
    key,
    query: { brandId, fromDate, toDate },
  })
  expect(page.status).toBe(200)
  return page.headers.get('X-Data-Settled-Through')
}

test('nothing is settled before the first refresh, which computes every day', async () => {
  await trail(3)
  await say('2026-01-05')
  await say('2026-10-01')
  await say('2026-10-08')
  expect(await settled('2026-10-01', '2026-10-05')).toBeNull()
  await refreshOn('2026-10-10')
  expect(await stored()).toEqual({ '2026-01-05': 1, '2026-10-01': 1, '2026-10-08': 1 })
})

// Of three days that end with the 10th the first is the 8th.
test('then the day before the last three is the last that is settled', async () => {
  expect(await settled('2026-10-01', '2026-10-05')).toBe('2026-10-05')
  expect(await settled('2026-10-01', '2026-10-31')).toBe('2026-10-07')
  expect(await settled('2026-10-08', '2026-10-31')).toBeNull()
})

test('what is late by less than three days gets in, and so does what is dated later', async () => {
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
})

test('what is gone from the last three days goes, with its days', async () => {
  await db.query(`delete from answers where answered_at >= '2026-10-10'`)
  await refreshOn('2026-10-10')
  expect(await stored()).toEqual({ '2026-01-05': 1, '2026-10-01': 1, '2026-10-08': 2 })
})

test('an edit of a settled day is seen by refreshing all, and not before', async () => {
  await say('2026-10-07')
  await say('2026-10-01')
  await db.query(`update answers set error = 'withdrawn' where answered_at < '2026-02-01'`)
  await refreshOn('2026-10-10')
  expect(await stored()).toEqual({ '2026-01-05': 1, '2026-10-01': 1, '2026-10-08': 2 })
  await refreshOn('2026-10-10', true)
  expect(await stored()).toEqual({ '2026-10-01': 2, '2026-10-07': 1, '2026-10-08': 2 })
  expect(await settled('2026-10-01', '2026-10-31')).toBe('2026-10-07')
})

// The last refresh was of the 10th and left the 8th open; of three days that end with the 20th the first is the 18th.
test('days that went by while no refresh ran are computed by the next', async () => {
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
  expect(await settled('2026-10-01', '2026-10-31')).toBe('2026-10-17')
})

test('a day that cannot be computed is not settled, nor is any after it', async () => {
  await db.query('alter table daily.visibility add constraint stuck check (total_prompts <> 2) not valid')
  try {
    await say('2026-10-19')
    await say('2026-10-22')
    await expect(refreshOn('2026-10-23')).rejects.toThrow('visibility of 2026-10-19')
    expect(await stored()).toMatchObject({ '2026-10-19': 1, '2026-10-22': 1 })
    expect(await settled('2026-10-01', '2026-10-31')).toBe('2026-10-18')
  } finally {
    await db.query('alter table daily.visibility drop constraint stuck')
  }
  await refreshOn('2026-10-23')
  expect(await stored()).toMatchObject({ '2026-10-19': 2 })
  expect(await settled('2026-10-01', '2026-10-31')).toBe('2026-10-20')
})

test('more days reach further back at once, and less is settled', async () => {
  await say('2026-10-18')
  await db.query('update daily.rolling_window set days = 10')
  await refreshOn('2026-10-23')
  expect(await stored()).toMatchObject({ '2026-10-18': 1 })
  expect(await settled('2026-10-01', '2026-10-31')).toBe('2026-10-13')
})

test('a refresh under way is not begun anew for an hour', async () => {
  const note = async (anew: boolean) =>
    (await db.query(`select daily.enqueue_rolling_window($1, '2026-10-23') as notes`, [anew])).rows[0].notes
  await refreshOn('2026-10-23')
  expect(await note(false)).toBeGreaterThan(0)
  await db.query(`delete from daily.refresh_queue where date = '2026-10-22'`)
  expect(await note(false)).toBe(0)
  await db.query(`update daily.rolling_window set enqueued_at = enqueued_at - interval '61 minutes'`)
  // The day that the last one had done; the others are noted still.
  expect(await note(false)).toBe(5)
  await refreshOn('2026-10-23')
})

test('the scheduled Worker computes the last days, and says what is settled', async () => {
  await clearOfEnd(DAY, 30_000)
  await trail(3, daysAgo(4))
  for (const age of [0, 2, 4]) await say(daysAgo(age))
  await service.runCron('refresh')
  const days = await stored()
  expect([days[daysAgo(0)], days[daysAgo(2)], days[daysAgo(4)]]).toEqual([1, 1, undefined])
  expect(await settled('2026-10-01', daysAgo(0))).toBe(daysAgo(3))
})

test('so does the command, and says so', async () => {
  await clearOfEnd(DAY, 30_000)
  await trail(3, daysAgo(4))
  for (const age of [0, 2, 4]) await say(daysAgo(age))
  const environment = { ...process.env, DATABASE_URL: own.url }
  const { stdout } = await promisify(execFile)('node', ['cli/refresh.ts'], { env: environment })
  expect(stdout).toMatch(/^Up to date: \d+ changes computed\.\nThe last 3 days were computed anew\./)
  expect(stdout).toContain(`through ${daysAgo(3)}`)
  expect(await stored()).toMatchObject({ [daysAgo(0)]: 2, [daysAgo(2)]: 2 })
  expect(await settled('2026-10-01', daysAgo(0))).toBe(daysAgo(3))
})

// The checks of our own tables keep such instants out; another application's may not.
test('what is dated outside of the calendar is passed over, and holds nothing up', async () => {
  await trail(3)
  await db.query('delete from answers')
  for (const at of ['infinity', '-infinity', '10000-01-01T00:00:00Z']) await answer(db, { ...said, at })
  await say('2026-10-21')
  await refreshOn('2026-10-23')
  expect(await stored()).toEqual({ '2026-10-21': 1 })
  await say('2026-10-22')
  await refreshOn('2026-10-23')
  expect(await stored()).toEqual({ '2026-10-21': 1, '2026-10-22': 1 })
})

test('a name that is too long for a key leaves its own days behind, and no other', async () => {
  const long = randomBytes(4000).toString('hex')
  await answer(db, { ...said, at: '2026-10-22T09:00:00Z', judged: [{ competitor: null, recommended: true }] })
  await db.query('update brands set name = $2 where id = $1', [its.brandId, long])
  await expect(refreshOn('2026-10-23')).rejects.toThrow('recommended_rate of 2026-10-22')
  expect(await stored()).toEqual({ '2026-10-21': 1, '2026-10-22': 2 })
})
