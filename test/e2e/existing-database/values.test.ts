import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { type Difference, verify } from '../../../drizzle/db/verify.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { answer, refresh } from '../../fixtures/rows.ts'
import { sample } from '../../fixtures/sample.ts'
import { installTriggers, prepareMapped } from '../../fixtures/schema.ts'

// Whatever an application stores: a value fails its own day, with the cause, or it is served as the views have it.

const { db } = await isolatedPool(async (client) => {
  await prepareMapped(client)
  await client.query(`
    alter table app.feelings add strength double precision, add divisor integer default 1, alter certainty drop not null;
    alter table app.links alter address drop not null, alter ours drop not null, alter seen_at drop not null;
    alter table app.llm_runs alter run_at drop not null, alter engine drop not null, alter region drop not null,
      drop constraint llm_runs_engine_fkey, drop constraint llm_runs_region_fkey;
    alter table app.named drop constraint named_pkey;
    alter table app.rivals drop constraint rivals_brand_label_key;
    alter table app.verdicts drop constraint verdicts_run_rival_key, alter recommended drop not null;
    alter type app.mood add value 'mixed'`)
  await client.query(`
    create or replace view export_source.sentiment_phrases as
      select run as answer_id, mood::text as polarity, coalesce(strength::numeric(5, 4), certainty) as confidence
      from app.feelings where 1 / divisor = 1`)
  await installTriggers(client)
})

type Sample = Awaited<ReturnType<typeof sample>>
let sick: Sample
let healthy: Sample
beforeEach(async () => {
  await db.query('truncate app.companies, app.engines, app.regions cascade')
  sick = await sample(db)
  healthy = await sample(db)
})

async function found(): Promise<Difference[]> {
  const client = await db.connect()
  const all: Difference[] = []
  for (const { brand } of [sick, healthy])
    for await (const difference of verify(client, { brandId: brand })) all.push(difference)
  client.release(true)
  return all
}

const SENTIMENT = { sentiment: /known_polarities_and_confidences_from_0_to_1/ }
const feeling = (change: string) => `update app.feelings set ${change} where run = $1`
const run = (change: string) => `update app.llm_runs set ${change} where uid = $1`
const link = (change: string) => `update app.links set ${change} where run = $1`
const region = (change: string) =>
  `update app.regions set ${change} where uid = (select region from app.llm_runs where uid = $1)`
const engine = (change: string) =>
  `update app.engines set ${change} where slug = (select engine from app.llm_runs where uid = $1)`
const rival = (change: string) =>
  `update app.rivals set ${change} where label = 'Globex' and brand = (select brand from app.questions join app.llm_runs on question = questions.uid where llm_runs.uid = $1)`
const HUGE = `repeat('x', 11534336)`
test.each<[statement: string, failing: Readonly<Record<string, RegExp>>]>([
  [feeling(`certainty = 'NaN'`), SENTIMENT],
  [feeling('certainty = -0.5'), SENTIMENT],
  [feeling('certainty = 9.5'), SENTIMENT],
  [feeling('certainty = null'), SENTIMENT],
  [feeling(`mood = 'mixed'`), SENTIMENT],
  [feeling(`strength = 'Infinity'`), { sentiment: /overflow|infinity/ }],
  [feeling(`strength = 1e300`), { sentiment: /overflow/ }],
  [feeling(`strength = 'NaN'`), SENTIMENT],
  [
    link(`address = '${randomBytes(10_009).toString('hex')}'`),
    { citations: /8192_bytes/, citation_share: /8192_bytes/ },
  ],
  [link('address = null'), { citations: /null value/, citation_share: /null value/ }],
  [link('ours = null'), {}],
  [
    `with a as (${link(`host = ${HUGE}`)}), b as (${region(`label = ${HUGE}`)}), c as (${engine(`vendor = ${HUGE}`)}),
       d as (${rival(`other_labels = array[${HUGE}, null]`)}) insert into app.named values ($1, ${HUGE})`,
    {},
  ],
  [link('seen_at = null'), {}],
  [rival(`label = ${HUGE}`), { competitors: /index row/, recommended_rate: /index row/ }],
  [rival(`label = 'Initech', other_labels = '{Globex}'`), { competitors: /a second time/ }],
  ['insert into app.verdicts select * from app.verdicts where run = $1', {}],
  ['update app.verdicts set recommended = null where run = $1', {}],
  [run('engine = null'), {}],
  [run('region = null'), {}],
  [run('engine = null, region = null'), {}],
  ['delete from app.regions where uid = (select region from app.llm_runs where uid = $1)', {}],
  ['delete from app.engines where slug = (select engine from app.llm_runs where uid = $1)', {}],
  [region('deleted_at = now()'), {}],
  [engine('deleted_at = now()'), {}],
  [run('run_at = null'), {}],
  [run(`run_at = 'infinity'`), {}],
  [run(`run_at = '-infinity'`), {}],
  [run(`run_at = '0001-01-01 BC'`), {}],
  [run(`run_at = '10000-01-01'`), {}],
  [link(`seen_at = 'infinity'`), {}],
  [link(`seen_at = '0001-01-01 BC'`), {}],
  [
    "update app.questions set retired_on = 'infinity' where uid = (select question from app.llm_runs where uid = $1)",
    {},
  ],
])('%s', async (statement, failing) => {
  await db.query(statement, [sick.answer])
  // What comes with it is served: another day of the same brand, and the same day of another brand.
  await answer(db, { ...sick.said, at: '2026-10-02T09:00:00Z' })
  await answer(db, { ...healthy.said, at: '2026-10-01T10:00:00Z' })
  const refreshed = refresh(db)
  if (Object.keys(failing).length > 0) await expect(refreshed).rejects.toThrow('cannot be computed')
  else await refreshed

  const { rows: left } = await db.query<{ metric: string; brand: string; last_error: string }>(
    'select distinct on (metric) metric, brand_id as brand, last_error from daily.refresh_queue order by metric',
  )
  expect(left).toEqual(
    Object.entries(failing)
      .toSorted()
      .map(([metric, error]) => ({ metric, brand: sick.brand, last_error: expect.stringMatching(error) })),
  )
  // A row that cannot be stored is one that the view alone has.
  for (const { metric, kind } of await found())
    expect([metric in failing, kind]).toEqual([true, expect.stringMatching(/missing|failed|wrong/)])
})

test('an answer counts in every metric when its model and market are gone, and its rows say so', async () => {
  await db.query('delete from app.engines')
  await db.query('update app.llm_runs set region = null')
  await refresh(db)
  const { rows } = await db.query(
    'select distinct provider, market, market_id, total_prompts from daily.visibility',
  )
  expect(rows).toEqual([
    { provider: '', market: '', market_id: '00000000-0000-0000-0000-000000000000', total_prompts: 1 },
  ])
})

test('verify names a day on which metrics count other answers', async () => {
  await db.query('update daily.visibility set total_prompts = 2 where brand_id = $1', [sick.brand])
  expect((await found()).find(({ kind }) => kind === 'answers')?.row).toEqual({
    brand_id: sick.brand,
    date: '2026-10-01',
    total_responses: 1,
    total_prompts: 2,
  })
})

test('a metric whose view was dropped is an error of the refresh and of verify', async () => {
  const client = await db.connect()
  await client.query('begin; drop table app.feelings cascade; savepoint dropped')
  await expect(client.query('select daily.start_refresh(true)')).rejects.toThrow('missing: metrics.sentiment')
  await client.query('rollback to dropped')
  await expect(verify(client, {}).next()).rejects.toThrow('missing: metrics.sentiment')
  await client.query('rollback')
  client.release()
})
