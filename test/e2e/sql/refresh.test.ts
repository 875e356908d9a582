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

/** Gives the next brand its turn. */
async function turn(after: string | null, maxDays = 1) {
  const { rows } = await db.query(`select * from daily.refresh($1, '0 s', $2)`, [after, maxDays])
  return rows[0]
}

const storedDays = async (brandId: string): Promise<string[]> =>
  (
    await db.query(`select date::text from daily.visibility where brand_id = $1 order by date`, [brandId])
  ).rows.map(({ date }) => date)

describe('the refresh', () => {
  test("serves brands in turn: a short queue does not wait for another brand's long one", async () => {
    const [first = '', second = ''] = inOrder(
      await brandWith({ days: [10, 11, 12] }),
      await brandWith({ days: [20, 21, 22] }),
    )
    const served: string[] = []
    for (let after: string | null = null; served.length < 6; served.push(after ?? '')) {
      after = (await turn(after)).brand_id
    }
    expect(served).toEqual([first, second, first, second, first, second])
    expect(await turn(second)).toMatchObject({ processed: 0, oldest_s: null })
    expect(await differences(db)).toEqual([])
  })

  test('computes the day of a brand that has waited longest, not the newest', async () => {
    const id = await brandWith({ days: [11, 25, 10] })
    for (const days of [['11'], ['11', '25'], ['10', '11', '25']]) {
      await turn(null)
      expect(await storedDays(id)).toEqual(days.map((day) => `2026-09-${day}`))
    }
  })

  test('expands a rename in the turn of its brand, while days of others wait', async () => {
    const renamed = await brandWith({ days: [10, 11] })
    await refresh(db)
    const busy = await brandWith({ days: [20, 21, 22] })
    await db.query(`update brands set name = 'Other' where id = $1`, [renamed])
    await turn(busy > renamed ? null : busy, 30)
    const { rows } = await db.query('select distinct brand_id from daily.refresh_queue')
    expect(rows).toEqual([{ brand_id: busy }])
  })

  test('computes each day once when many prompts of a brand are retired', async () => {
    const id = await brandWith({ days: [10, 11, 12], prompts: 20 })
    await refresh(db)
    await db.query('update prompts set retired_at = now() where brand_id = $1', [id])
    const { rows } = await db.query('select count(distinct metric)::int as metrics from daily.refresh_queue')
    // The citations' days are those of citations, of which there are none.
    expect(await turn(null, 30)).toMatchObject({ processed: 3 * (rows[0].metrics - 1), oldest_s: null })
    expect(await storedDays(id)).toEqual([])
  })

  test('computes brands that wait for the same days at once', async () => {
    const ids = inOrder(await brandWith({ days: [10] }), await brandWith({ days: [10] }))
    expect(await turn(null, 30)).toMatchObject({ brand_id: ids[0], oldest_s: null })
    for (const id of ids) expect(await storedDays(id)).toEqual(['2026-09-10'])
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
      expect((await turn(null, 30)).failure).toMatchObject({
        metric: 'visibility',
        brand_id: failing,
        date: '2026-09-10',
        code: '23514',
      })
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

  test('takes the days of a brand that did not fail before those that did', async () => {
    const id = await brandWith({ days: [10, 11] })
    await db.query(`update daily.refresh_queue set failed = true where date = '2026-09-10'`)
    await turn(null)
    expect(await storedDays(id)).toEqual(['2026-09-11'])
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
