import { beforeEach, expect, inject, test } from 'vitest'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { differences } from '../../fixtures/differences.ts'
import { withFailingDay } from '../../fixtures/failing-day.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { answer, brand, organization, place, prompt, refresh } from '../../fixtures/rows.ts'
import { tableOf } from '../../fixtures/schema.ts'
import { CLEARANCE } from '../../interleavings/histories.ts'

const { db } = await isolatedPool()

beforeEach(() => db.query(CLEARANCE))

/** A brand with an answer of each of its prompts on each of some days of September. */
async function brandWith({ days, prompts = 1 }: { days: readonly number[]; prompts?: number }) {
  const id = await brand(db, await organization(db))
  for (let n = 0; n < prompts; n += 1) {
    const said = { ...(await place(db)), prompt: await prompt(db, id) }
    for (const day of days) await answer(db, { ...said, at: `2026-09-${day}T09:00:00Z` })
  }
  return id
}

/** Two brands in the order in which the refresh serves them. */
const inOrder = (...ids: string[]): string[] => ids.toSorted()

const resolve = () => db.query('select daily.resolve()')

/** Computes for some time, from the brand after `after`; by default one batch of days of one metric. */
async function turn(after: string | null, { maxDays = 1, duration = '0 s' } = {}) {
  const { rows } = await db.query('select * from daily.refresh($1, $2, $3)', [after, duration, maxDays])
  return rows[0]
}

/** Resolves the log, and empties the queue of all metrics but one. */
async function keepVisibility() {
  await resolve()
  await db.query(`delete from daily.refresh_queue where metric <> 'visibility'`)
}

const storedDays = async (brandId: string): Promise<string[]> =>
  (
    await db.query(`select date::text from daily.visibility where brand_id = $1 order by date`, [brandId])
  ).rows.map(({ date }) => date)

const everything = { maxDays: 30, duration: '1 min' }

const queue = async () =>
  (
    await db.query(
      'select date::text, attempts, retry_at > now() as delayed, alone from daily.refresh_queue order by date',
    )
  ).rows

test("serves brands in turn: a short queue does not wait for another brand's long one", async () => {
  const [first = '', second = ''] = inOrder(
    await brandWith({ days: [10, 11, 12] }),
    await brandWith({ days: [20, 21, 22] }),
  )
  await keepVisibility()
  const served: string[] = []
  for (let after: string | null = null, done = false; !done; ) {
    const step = await turn(after)
    if (step.processed > 0) served.push(step.brand_id)
    after = step.brand_id
    done = step.done
  }
  expect(served).toEqual([first, second, first, second, first, second])
})

test('computes the day of a brand that has waited longest, not the newest', async () => {
  const id = await brandWith({ days: [11, 25, 10] })
  await keepVisibility()
  await db.query(`update daily.refresh_queue set as_of = now() - interval '1 hour' where date = '2026-09-25'`)
  for (const days of [['25'], ['10', '25'], ['10', '11', '25']]) {
    await turn(null)
    expect(await storedDays(id)).toEqual(days.map((day) => `2026-09-${day}`))
  }
})

test('begins with the metric of a brand that has waited longest', async () => {
  await brandWith({ days: [10] })
  await resolve()
  await db.query(`update daily.refresh_queue set as_of = now()`)
  await db.query(
    `update daily.refresh_queue set as_of = now() - interval '1 hour' where metric = 'sentiment'`,
  )
  await turn(null)
  const { rowCount } = await db.query(`select from daily.refresh_queue where metric = 'sentiment'`)
  expect(rowCount).toBe(0)
  expect((await turn(null, everything)).processed).toBeGreaterThan(0)
})

test('computes each day once when many prompts of a brand are retired', async () => {
  const id = await brandWith({ days: [10, 11, 12], prompts: 20 })
  await refresh(db)
  await db.query('update prompts set retired_at = now() where brand_id = $1', [id])
  await resolve()
  // The days of a metric that is dated by recordings are those of citations, of which there are none.
  const byAnswer = await db.query(`select distinct metric from daily.sources where dated_by = 'answered_at'`)
  expect(await turn(null, everything)).toMatchObject({ processed: 3 * byAnswer.rows.length })
  expect(await turn(null)).toMatchObject({ processed: 0, done: true })
  expect(await storedDays(id)).toEqual([])
})

test('computes brands that wait for the same days at once', async () => {
  const ids: string[] = []
  // A turn takes an eighth of the brands that wait.
  for (let n = 0; n < 16; n += 1) ids.push(await brandWith({ days: [10] }))
  await keepVisibility()
  const [first = '', second = ''] = inOrder(...ids)
  expect(await turn(null, { maxDays: 30 })).toMatchObject({ brand_id: first, processed: 2 })
  for (const id of [first, second]) expect(await storedDays(id)).toEqual(['2026-09-10'])
})

test('computes the other brands and days of a batch in which one day fails, and says which', async () => {
  const [failing = '', other = ''] = inOrder(
    await brandWith({ days: [10, 11] }),
    await brandWith({ days: [10, 11] }),
  )
  await withFailingDay(db, { brandId: failing, day: '2026-09-10' }, async () => {
    await expect(refresh(db)).rejects.toThrow(`visibility of 2026-09-10 of brand ${failing}`)
    expect(await storedDays(failing)).toEqual(['2026-09-11'])
    expect(await storedDays(other)).toEqual(['2026-09-10', '2026-09-11'])
    const { rows } = await db.query(
      'select metric, date::text, retry_at > now() as delayed, last_error from daily.refresh_queue',
    )
    expect(rows).toEqual([
      {
        metric: 'visibility',
        date: '2026-09-10',
        delayed: true,
        last_error: expect.stringContaining('failing'),
      },
    ])
  })
  await refresh(db)
  expect(await differences(db)).toEqual([])
})

test('waits longer after each failure of a day, up to an hour, and at once computes it when it changes', async () => {
  const id = await brandWith({ days: [10, 11] })
  await keepVisibility()
  await withFailingDay(db, { brandId: id, day: '2026-09-10' }, async () => {
    const waits = []
    for (let n = 0; n < 10; n += 1) {
      if (n === 9) await db.query('update daily.refresh_queue set attempts = 1000')
      while (!(await turn(null, everything)).done);
      const { rows } = await db.query(
        'select attempts, round(extract(epoch from retry_at - now()) / 60)::int as minutes from daily.refresh_queue',
      )
      waits.push(...rows)
      await db.query('update daily.refresh_queue set retry_at = now()')
    }
    expect(waits.map(({ minutes }) => minutes)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
    expect(waits.map(({ attempts }) => attempts)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 1001])
  })
  await db.query(`update daily.refresh_queue set retry_at = 'infinity'`)
  expect(await turn(null)).toMatchObject({ done: true, processed: 0 })
  await db.query(`update answers set error = 'withdrawn' where answered_at < '2026-09-11'`)
  await resolve()
  while (!(await turn(null, everything)).done);
  expect(await storedDays(id)).toEqual(['2026-09-11'])
})

test('tries a canceled day again after its wait, even when it changes meanwhile', async () => {
  const id = await brandWith({ days: [10, 11] })
  await keepVisibility()
  await withFailingDay(db, { brandId: id, day: '2026-09-10', isSlow: true }, async () => {
    while (!(await turn(null, everything)).done);
    expect(await queue()).toEqual([{ date: '2026-09-10', attempts: 1, delayed: true, alone: true }])
    await db.query(`update answers set error = 'withdrawn'`)
    await keepVisibility()
    while (!(await turn(null, everything)).done);
    expect(await storedDays(id)).toEqual([])
    expect(await queue()).toEqual([{ date: '2026-09-10', attempts: 1, delayed: true, alone: true }])
    await db.query('update daily.refresh_queue set retry_at = now()')
  })
})

test("reads a day of citations, and not the brand's history nor other brands", async () => {
  const [id, other] = [await brandWith({ days: [10] }), await brandWith({ days: [10] })]
  /** Adds answers to days of a brand, counted from its first, each with a citation of its day. */
  const cite = (brandId: string, answersOfDay: number, first: number, last: number) =>
    db.query(
      `with answered as (
         insert into answers (id, prompt_id, model_id, market_id, answered_at)
         select gen_random_uuid(), prompt_id, model_id, market_id, answered_at + day * interval '1 day'
         from (
           select answers.* from answers join prompts on prompts.id = prompt_id
           where brand_id = $1 order by answered_at limit 1
         ) as one
         cross join generate_series($3::int, $4::int) as day cross join generate_series(1, $2::int)
         returning id, answered_at
       )
       insert into citations (answer_id, url, owned, recorded_at)
       select id, 'https://site.example/', false, answered_at from answered`,
      [brandId, answersOfDay, first, last],
    )
  /** The blocks that computing the first day again reads. */
  async function blocks(): Promise<number> {
    await resolve()
    for (const table of ['answers', 'citations', 'prompts'])
      await db.query(`vacuum analyze ${tableOf(table)}`)
    const compute = `select daily.recompute('citations', array['${id}']::uuid[], array['2026-09-10']::date[])`
    await db.query(compute)
    const { rows } = await db.query(`explain (analyze, buffers, format json) ${compute}`)
    const [{ Plan: plan }] = rows[0]['QUERY PLAN']
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  }
  await cite(other, 10_000, 0, 0)
  await cite(id, 50, 0, 9)
  const before = await blocks()
  await cite(id, 50, 10, 200)
  const after = await blocks()
  expect(after).toBeLessThan(2 * before)
})

test('names a table that a subscription of logical replication fills', async () => {
  const client = await db.connect()
  try {
    // A subscription needs a publisher to connect to.
    await client.query('begin; set local allow_system_table_mods = on')
    await client.query(
      `insert into pg_subscription_rel (srsubid, srrelid, srsubstate) values (1, $1::regclass, 'r')`,
      [tableOf('citations')],
    )
    expect(await refreshAll(client)).toEqual({ untracked: expect.stringContaining(tableOf('citations')) })
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test.runIf(inject('realPostgres'))('is not done while another call computes the last brand', async () => {
  await brandWith({ days: [10] })
  await refresh(db)
  await db.query(`update answers set error = 'withdrawn'; select daily.resolve()`)
  const other = await db.connect()
  try {
    await other.query(`begin; select daily.refresh(null, '0 s', 1)`)
    expect(await turn(null)).toMatchObject({ processed: null, done: false })
    await other.query('commit')
  } finally {
    other.release()
  }
  await turn(null, everything)
  expect(await turn(null)).toMatchObject({ processed: 0, done: true })
})

test.runIf(inject('realPostgres'))('goes on with other metrics while a raw table is locked', async () => {
  const id = await brandWith({ days: [10] })
  await resolve()
  const other = await db.connect()
  try {
    await other.query(`begin; truncate ${tableOf('sentiment_phrases')}`)
    expect(await turn(null, everything)).toMatchObject({ failure: { metric: 'sentiment', code: '55P03' } })
    expect(await storedDays(id)).toEqual(['2026-09-10'])
    const { rows } = await db.query('select metric, retry_at > now() as delayed from daily.refresh_queue')
    expect(rows).toEqual([{ metric: 'sentiment', delayed: true }])
  } finally {
    await other.query('rollback')
    other.release()
  }
})
