import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Intercept } from '../../emulator/workers/outbound.ts'
import { isolatedPool } from '../support/isolated.ts'
import { startOwnService } from '../support/own-service.ts'
import { answer, brand, organization, place, prompt } from '../support/world.ts'

/** A call of daily.refresh, and how many entries it processed. */
type Step = { readonly params: unknown; readonly processed: string }

// Apart from the other tests, whose refreshes would leave nothing to compute.
const { db, url: databaseUrl } = await isolatedPool()
let begun: string[] = []
let steps: Step[] = []
let log: string[] = []

const watch: Intercept = async (_, request, genuine) => {
  const { query, params } = await request.clone().json()
  const response = await genuine()
  const { rows } = await response.clone().json()
  if (query.includes('daily.refresh(')) steps.push({ params, processed: rows[0][0] })
  else begun.push(query)
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

test('a run processes the whole queue, 10 brands and 3 days at a time, and logs the number of entries', async () => {
  const its = await prompt(db, await brand(db, await organization(db)))
  const where = await place(db)
  for (let day = 1; day <= 7; day += 1) {
    await answer(db, { ...where, prompt: its, at: `2026-10-0${day}T09:00:00Z`, mentions: ['Acme'] })
  }
  await service.runCron('refresh')
  const { rows } = await db.query('select date::text from daily.visibility order by date')
  expect(rows.map(({ date }) => date)).toEqual([1, 2, 3, 4, 5, 6, 7].map((day) => `2026-10-0${day}`))
  expect((await db.query('select from daily.refresh_queue')).rowCount).toBe(0)
  expect(begun).toEqual([expect.stringContaining('daily.enqueue_rolling_window(false)')])
  expect(steps.map(({ params }) => params)).toEqual(steps.map(() => ['10', '3']))
  expect(steps.map(({ processed }) => processed).indexOf('0')).toBe(steps.length - 1)
  const processed = steps.reduce((sum, step) => sum + Number(step.processed), 0)
  expect(processed).toBeGreaterThan(7)
  await expect.poll(() => log).toEqual([JSON.stringify({ event: 'refreshed', entries: processed })])
})

test('a run over an empty queue takes one step and logs nothing', async () => {
  await service.runCron('refresh')
  expect(steps).toEqual([{ params: ['10', '3'], processed: '0' }])
  expect(log).toEqual([])
})

test('a run fails and logs the cause when the database fails', async () => {
  let asked = 0
  intercept = async () => {
    asked += 1
    return Response.json({ message: 'secret detail', code: '57P03' }, { status: 400 })
  }
  await expect(service.runCron('refresh')).rejects.toThrow()
  expect(asked).toBe(1)
  await expect.poll(() => log.join('\n')).toContain('"event":"database_error"')
  expect(log.join('\n')).toContain('"code":"57P03"')
  expect(log.join('\n')).not.toMatch(/secret detail|refreshed/)
})
