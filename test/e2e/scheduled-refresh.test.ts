import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { differences } from '../fixtures/differences.ts'
import { withFailingDay } from '../fixtures/failing-day.ts'
import { isolatedPool } from '../fixtures/isolated-database.ts'
import { startOwnService } from '../fixtures/own-service.ts'
import { answer, brand, organization, place, prompt } from '../fixtures/rows.ts'

/** A call of daily.refresh: the brand after which it begins, its most days, and how many days it computed. */
type Step = { readonly after: string | null; readonly days: string; readonly processed: string }

// Apart from the other tests, whose refreshes would leave nothing to compute.
const { db, url: databaseUrl } = await isolatedPool()
let begun: string[] = []
let steps: Step[] = []
let log: string[] = []

const isRefresh = (query: string): boolean => query.includes('daily.refresh(')

const watch: Intercept = async (_, request, genuine) => {
  const { query, params } = await request.clone().json()
  const response = await genuine()
  const { rows } = await response.clone().json()
  if (isRefresh(query)) steps.push({ after: params[0], days: params.at(-1), processed: rows[0][1] })
  else if (query.includes('daily.start_refresh(')) begun.push(query)
  return response
}
let intercept: Intercept = watch

const service = await startOwnService({
  databaseUrl,
  intercept: (...asked) => intercept(...asked),
  onLog: (line) => log.push(line),
})
afterAll(() => service.close())

beforeEach(() => {
  intercept = watch
  begun = []
  steps = []
  log = []
})

/** A brand with an answer on each of seven days of October. */
async function sevenDays(): Promise<string> {
  const id = await brand(db, await organization(db))
  const said = { ...(await place(db)), prompt: await prompt(db, id), mentions: ['Acme'] }
  for (let day = 1; day <= 7; day += 1) await answer(db, { ...said, at: `2026-10-0${day}T09:00:00Z` })
  return id
}

test('a run recomputes all days that changed, with two lanes, and logs their number', async () => {
  await sevenDays()
  await service.runCron('refresh')
  expect((await db.query('select from daily.visibility')).rowCount).toBe(7)
  expect((await db.query('select from daily.refresh_queue')).rowCount).toBe(0)
  expect(begun).toHaveLength(1)
  const days = steps.reduce((sum, step) => sum + Number(step.processed), 0)
  expect(days).toBeGreaterThan(7)
  await expect.poll(() => log).toEqual([JSON.stringify({ event: 'refreshed', days })])

  steps = []
  await service.runCron('refresh')
  expect(steps, 'once per lane').toMatchObject([{ processed: '0' }, { processed: '0' }])
  expect(log).toHaveLength(1)
})

test('a call goes on after the brand that the call before served last, also when it processed nothing', async () => {
  const id = await sevenDays()
  let calls = 0
  intercept = async (asked, request, genuine) => {
    const sent = await request.clone().json()
    if (!isRefresh(sent.query) || calls++ > 0) return watch(asked, request, genuine)
    const { fields } = await (await genuine()).json()
    return Response.json({ fields, rows: [[id, '0', 'false', null]], rowCount: 1, command: 'SELECT' })
  }
  await service.runCron('refresh')
  expect(steps).toContainEqual(expect.objectContaining({ after: id, days: '30' }))
})

test('a call that failed is repeated once; other lanes go on', async () => {
  let failing = 1
  intercept = async (asked, request, genuine) => {
    const { query } = await request.clone().json()
    if (!isRefresh(query) || failing === 0) return watch(asked, request, genuine)
    failing -= 1
    return Response.json({ message: 'canceling statement', code: '57014' }, { status: 400 })
  }
  await sevenDays()
  await service.runCron('refresh')
  expect((await db.query('select from daily.refresh_queue')).rowCount).toBe(0)

  failing = 3
  await sevenDays()
  await expect(service.runCron('refresh')).rejects.toThrow()
  expect((await db.query('select from daily.refresh_queue')).rowCount).toBe(0)
})

test.each(['1', '2'])('a day that takes too long holds up no other, with %s lanes', async (lanes) => {
  const own = await startOwnService({
    databaseUrl,
    intercept: watch,
    onLog: (line) => log.push(line),
    vars: { REFRESH_LANES: lanes },
  })
  onTestFinished(() => own.close())
  const [brandId = ''] = [await sevenDays(), await sevenDays(), await sevenDays()]
  const failed = {
    event: 'day_failed',
    metric: 'visibility',
    brand_id: brandId,
    date: '2026-10-04',
    code: '57014',
  }
  const failures = () => log.map((line) => JSON.parse(line)).filter(({ event }) => event === 'day_failed')
  await withFailingDay(db, { brandId, day: '2026-10-04', isSlow: true }, async () => {
    for (let run = 0; run < 2; run += 1) await own.runCron('refresh')
    // Its wait, and as_of meanwhile: test/e2e/sql/refresh.test.ts, test/e2e/as-of.test.ts.
    expect((await db.query('select from daily.refresh_queue')).rowCount).toBe(1)
    await expect.poll(failures).toEqual([failed])
    // The other days were computed 30 at a time.
    expect(new Set(steps.map(({ days }) => days))).toEqual(new Set(['30']))
    await db.query('update daily.refresh_queue set retry_at = now()')
    await own.runCron('refresh')
    await expect.poll(failures).toEqual([failed, failed])
  })
  await db.query('update daily.refresh_queue set retry_at = now()')
  await own.runCron('refresh')
  expect((await db.query('select from daily.refresh_queue')).rowCount).toBe(0)
  expect(await differences(db)).toEqual([])
})

test('a run logs a day that cannot be computed, without its data', async () => {
  const id = await sevenDays()
  await service.runCron('refresh')
  log = []
  await db.query(`
    update answers set error = 'withdrawn' where answered_at < '2026-10-04T06:00:00Z';
    update answer_mentions set name = 'Globex'`)
  await withFailingDay(db, { brandId: id, day: '2026-10-04' }, () => service.runCron('refresh'))
  await expect
    .poll(() => log.map((line) => JSON.parse(line)))
    .toEqual([
      { event: 'day_failed', metric: 'visibility', brand_id: id, date: '2026-10-04', code: '23514' },
      { event: 'refreshed', days: expect.any(Number) },
    ])
  await db.query('update daily.refresh_queue set retry_at = null')
  await service.runCron('refresh')
})

test('a run logs 50 failed days, how many more there are, and how far data lags behind', async () => {
  let failing = 53
  intercept = async (asked, request, genuine) => {
    const { query } = await request.clone().json()
    if (failing === 0 || !isRefresh(query)) return watch(asked, request, genuine)
    const day = { metric: 'visibility', brand_id: randomUUID(), date: '2026-10-04' }
    const failure = JSON.stringify({ ...day, code: `F${failing--}`, message: '' })
    const { fields } = await (await genuine()).json()
    return Response.json({ fields, rows: [[null, '0', 'false', failure]], rowCount: 1, command: 'SELECT' })
  }
  await db.query(`update daily.progress set as_of = now() - interval '1 hour'`)
  const id = await sevenDays()
  await db.query(`alter table daily.visibility add constraint failing check (brand_id <> '${id}') not valid`)
  await service.runCron('refresh')
  await expect
    .poll(() => JSON.parse(log.at(-1) ?? '{}'))
    .toEqual({ event: 'refresh_behind', lag_s: expect.any(Number), unlogged: 3 })
  expect(JSON.parse(log.at(-1) ?? '{}').lag_s).toBeGreaterThanOrEqual(3600)
  expect(log.filter((line) => line.includes('day_failed'))).toHaveLength(50)
  await db.query('alter table daily.visibility drop constraint failing')
})

test('a run fails and logs the cause when the database fails', async () => {
  let asked = 0
  intercept = async () => {
    asked += 1
    return Response.json({ message: 'secret detail', code: '57P03' }, { status: 400 })
  }
  await expect(service.runCron('refresh')).rejects.toThrow()
  // The second request asks how far the data lags behind.
  expect(asked).toBe(2)
  await expect.poll(() => log.join('\n')).toContain('"event":"database_error"')
  expect(log.join('\n')).toContain('"code":"57P03"')
  expect(log.join('\n')).not.toMatch(/secret detail|refreshed/)
})
