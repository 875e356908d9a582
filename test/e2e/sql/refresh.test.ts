import { beforeEach, describe, expect, test } from 'vitest'
import { CLEARANCE } from '../../support/history.ts'
import { isolatedPool } from '../../support/isolated.ts'
import { differences } from '../../support/verify.ts'
import { brand, insert, organization, place, prompt, refresh } from '../../support/world.ts'

const { db } = await isolatedPool()

beforeEach(() => db.query(CLEARANCE))

/** A brand with an answer of each of its prompts on each of some days of September. */
async function brandWith({ days, prompts = 1 }: { days: readonly number[]; prompts?: number }) {
  const id = await brand(db, await organization(db))
  const { model, market } = await place(db)
  for (let n = 0; n < prompts; n += 1) {
    const prompt_id = await prompt(db, id)
    const answers = days.map((day) => ({
      prompt_id,
      model_id: model,
      market_id: market,
      answered_at: `2026-09-${day}T09:00:00Z`,
    }))
    for (const answer of answers) await insert(db, 'answers', [answer])
  }
  return id
}

/** Two brands in the order in which the refresh serves them. */
const inOrder = (...ids: string[]): string[] => ids.toSorted()

/** Computes for some time, from the brand after `after`; by default one batch of days of one metric. */
async function turn(after: string | null, { maxDays = 1, budget = '0 s', since = new Date() } = {}) {
  const { rows } = await db.query('select * from daily.refresh($1, $2, $3, $4)', [
    after,
    since,
    budget,
    maxDays,
  ])
  return rows[0]
}

/** Empties the queue of all metrics but one. */
const keepVisibility = () => db.query(`delete from daily.refresh_queue where metric <> 'visibility'`)

const storedDays = async (brandId: string): Promise<string[]> =>
  (
    await db.query(`select date::text from daily.visibility where brand_id = $1 order by date`, [brandId])
  ).rows.map(({ date }) => date)

const everything = { maxDays: 30, budget: '1 min' }

describe('the refresh', () => {
  test("serves brands in turn: a short queue does not wait for another brand's long one", async () => {
    const [first = '', second = ''] = inOrder(
      await brandWith({ days: [10, 11, 12] }),
      await brandWith({ days: [20, 21, 22] }),
    )
    await keepVisibility()
    const served: string[] = []
    for (let after: string | null = null; served.length < 6; served.push(after ?? '')) {
      after = (await turn(after)).brand_id
    }
    expect(served).toEqual([first, second, first, second, first, second])
    expect(await turn(second)).toMatchObject({ processed: 0, done: true, oldest_s: null })
  })

  test('computes the day of a brand that has waited longest, not the newest', async () => {
    const id = await brandWith({ days: [11, 25, 10] })
    await keepVisibility()
    for (const days of [['11'], ['11', '25'], ['10', '11', '25']]) {
      await turn(null)
      expect(await storedDays(id)).toEqual(days.map((day) => `2026-09-${day}`))
    }
  })

  test('begins with the metric of a brand that has waited longest', async () => {
    await brandWith({ days: [10] })
    await db.query(`
      update daily.refresh_queue set added_at = added_at - interval '1 hour' where metric = 'sentiment'`)
    await turn(null)
    const { rowCount } = await db.query(`select from daily.refresh_queue where metric = 'sentiment'`)
    expect(rowCount).toBe(0)
    expect((await turn(null, everything)).processed).toBeGreaterThan(0)
  })

  test('expands a rename in the turn of its brand, while days of others wait', async () => {
    const renamed = await brandWith({ days: [10, 11] })
    await refresh(db)
    const busy = await brandWith({ days: [20, 21, 22] })
    await db.query(`update brands set name = 'Other' where id = $1`, [renamed])
    await keepVisibility()
    await turn(busy > renamed ? null : busy, { maxDays: 30 })
    const { rows } = await db.query('select distinct brand_id from daily.refresh_queue')
    expect(rows).toEqual([{ brand_id: busy }])
  })

  test('computes each day once when many prompts of a brand are retired', async () => {
    const id = await brandWith({ days: [10, 11, 12], prompts: 20 })
    await refresh(db)
    await db.query('update prompts set retired_at = now() where brand_id = $1', [id])
    const { rows } = await db.query('select count(distinct metric)::int as metrics from daily.refresh_queue')
    // The citations' days are those of citations, of which there are none.
    expect(await turn(null, everything)).toMatchObject({
      processed: 3 * (rows[0].metrics - 1),
      done: true,
      oldest_s: null,
    })
    expect(await storedDays(id)).toEqual([])
  })

  test('computes brands that wait for the same days at once', async () => {
    const ids = inOrder(await brandWith({ days: [10] }), await brandWith({ days: [10] }))
    await keepVisibility()
    expect(await turn(null, { maxDays: 30 })).toMatchObject({ brand_id: ids[0], oldest_s: null })
    for (const id of ids) expect(await storedDays(id)).toEqual(['2026-09-10'])
  })

  test('is not done while a brand waits, even if those before it had no day to compute', async () => {
    const ids = inOrder(await brandWith({ days: [] }), await brandWith({ days: [] }))
    await db.query(
      `insert into daily.refresh_queue (metric, brand_id) select 'visibility', unnest($1::uuid[])`,
      [ids],
    )
    expect(await turn(null)).toMatchObject({ brand_id: ids[0], processed: 0, done: false })
    await refresh(db)
    expect(await turn(null)).toMatchObject({ done: true, oldest_s: null })
  })

  test('drops entries of a metric that no longer exists', async () => {
    const id = await brandWith({ days: [10] })
    await db.query(
      `insert into daily.refresh_queue (metric, brand_id) values ('former', null), ('former', $1)`,
      [id],
    )
    expect(await turn(null, everything)).toMatchObject({ done: true, oldest_s: null })
    expect(await differences(db)).toEqual([])
  })

  test('computes the other brands and days of a batch in which one day fails, and says which', async () => {
    const [failing = '', other = ''] = inOrder(
      await brandWith({ days: [10, 11] }),
      await brandWith({ days: [10, 11] }),
    )
    await db.query(
      `alter table daily.visibility add constraint failing check (brand_id <> '${failing}' or date <> '2026-09-10')`,
    )
    try {
      const failure = { metric: 'visibility', brand_id: failing, date: '2026-09-10', code: '23514' }
      expect(await turn(null, everything)).toMatchObject({ done: true, failure })
      expect(await storedDays(failing)).toEqual(['2026-09-11'])
      expect(await storedDays(other)).toEqual(['2026-09-10', '2026-09-11'])
      const { rows } = await db.query('select metric, date::text from daily.refresh_queue')
      expect(rows).toEqual([{ metric: 'visibility', date: '2026-09-10' }])
      await expect(refresh(db)).rejects.toThrow(`visibility of 2026-09-10 of brand ${failing}`)
    } finally {
      await db.query('alter table daily.visibility drop constraint failing')
    }
    await refresh(db)
    expect(await differences(db)).toEqual([])
  })

  test('computes a day that failed in an earlier run alone, and one of this run not again', async () => {
    const id = await brandWith({ days: [10, 11, 12] })
    await keepVisibility()
    await db.query(`
      update daily.refresh_queue set failed_at = '2026-01-01' where date = '2026-09-10';
      update daily.refresh_queue set failed_at = now() where date = '2026-09-11'`)
    const since = new Date('2026-02-01')
    await turn(null, { maxDays: 30, since })
    expect(await storedDays(id)).toHaveLength(1)
    expect(await turn(null, { ...everything, since })).toMatchObject({ done: true, failure: null })
    expect(await storedDays(id)).toEqual(['2026-09-10', '2026-09-12'])
  })

  test('returns the age of the oldest entry, also of one that was expanded', async () => {
    const id = await brandWith({ days: [10, 11, 12] })
    await refresh(db)
    await db.query(
      `insert into daily.refresh_queue (metric, added_at) values ('visibility', clock_timestamp() - interval '1 hour')`,
    )
    const { oldest_s } = await turn(null)
    expect(oldest_s).toBeGreaterThanOrEqual(3600)
    expect(oldest_s).toBeLessThan(5400)
    expect(await storedDays(id)).toHaveLength(3)
  })
})
