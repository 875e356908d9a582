import type { ClientBase } from 'pg'
import { logAll, refreshAll } from '../../../drizzle/db/refresh.ts'
import { metricsOf } from '../../../drizzle/db/verify.ts'
import { inDatabase } from '../database.ts'
import { figure, type Section } from '../section.ts'
import { addBrand, addTenant } from '../tenant.ts'
import { alternateTimes, timed } from '../timing.ts'
import { fill, withoutTriggers } from '../volume.ts'

const DAYS = 90
const ROUNDS = { rebuild: 2, day: 15 }

const RETIRED = 2000

/** What it costs to refresh one day of a large brand, compared with a full rebuild. */
export const section: Section = ({ serverUrl, sized, report }) =>
  inDatabase(serverUrl, async (client) => {
    const { organizationId } = await addTenant(client)
    const brandId = await addBrand(client, organizationId)
    const answers = sized(200_000)
    report(`a brand with ${figure(answers * 10)} citations`)
    await withoutTriggers(client, () => fill(client, { brandId, answers, days: DAYS, citations: [10, 10] }))
    await client.query('vacuum analyze')
    const metrics = await metricsOf(client)

    report('all days')
    const all = await alternateTimes(
      {
        rebuild: () => rebuild(client, metrics),
        equal: () => refreshed(client, () => logAll(client)),
      },
      ROUNDS.rebuild,
    )
    await client.query('vacuum analyze')

    report('one day')
    const nextDay = days()
    const day = await alternateTimes(
      {
        equal: () => refreshed(client, () => enqueueDay(client, { metrics, brandId, day: nextDay() })),
        deleted: async () => {
          const day = nextDay()
          for (const metric of metrics)
            await client.query(`delete from daily.${metric} where date = $1`, [day])
          return refreshed(client, () => enqueueDay(client, { metrics, brandId, day }))
        },
        changed: () => refreshed(client, () => addAnswer(client, brandId, nextDay())),
        unlisted: () =>
          withoutListing(client, () => refreshed(client, () => addAnswer(client, brandId, nextDay()))),
      },
      ROUNDS.day,
    )
    await client.query('truncate daily.refresh_queue')
    report(`${figure(RETIRED)} prompts of a brand`)
    const retire = await alternateTimes(
      {
        rebuild: () =>
          manyPrompts(client, sized(20_000), async (id) => {
            for (const metric of metrics)
              await client.query(`delete from daily.${metric} where brand_id = $1`, [id])
            await enqueueBrand(client, id)
          }),
        retire: () =>
          manyPrompts(client, sized(20_000), (id) =>
            client.query('update prompts set retired_at = now() where brand_id = $1', [id]),
          ),
      },
      ROUNDS.rebuild,
    )
    const percent = (ms: number) => `${figure((100 * ms) / all('rebuild'))} %`
    return [
      {
        title: `Refreshing one day of a brand with ${figure(answers * 10)} citations over ${DAYS} days`,
        columns: ['the day', 'part of a full rebuild'],
        rows: [
          ['nothing differs', percent(day('equal'))],
          ['its rows were deleted', percent(day('deleted'))],
          ['an answer with 10 citations was added', percent(day('changed'))],
        ],
        note: `Goal: at most 2 %; a ninetieth is 1.11 %. Listing the changes makes the refresh of an added answer ${figure(day('changed') / day('unlisted'))} times as long; goal: at most 1.1. A rebuild of all metrics takes ${figure(all('rebuild'))} ms. Refreshing all days without a difference takes ${percent(all('equal'))} of it. Medians of ${ROUNDS.rebuild} and ${ROUNDS.day} alternating rounds.`,
      },
      {
        title: `Retiring ${figure(RETIRED)} prompts of a brand in one statement`,
        columns: ['refresh afterwards', 'relative to a rebuild of the brand'],
        rows: [['all prompts retired', retire('retire') / retire('rebuild')]],
        note: 'Goal: at most 2.',
      },
    ]
  })

/** Adds a brand whose answers are spread over many prompts, and times the refresh after a change of it. */
async function manyPrompts(
  client: ClientBase,
  answers: number,
  change: (brandId: string) => Promise<unknown>,
): Promise<number> {
  const { organizationId } = await addTenant(client)
  const brandId = await addBrand(client, organizationId, RETIRED)
  await withoutTriggers(client, () => fill(client, { brandId, answers, days: DAYS, citations: [2, 3] }))
  await enqueueBrand(client, brandId)
  await refreshAll(client)
  await client.query('vacuum analyze')
  return refreshed(client, () => change(brandId))
}

const enqueueBrand = (client: ClientBase, brandId: string) =>
  client.query(
    'insert into daily.refresh_queue (metric, brand_id) select distinct metric, $1::uuid from daily.sources',
    [brandId],
  )

async function refreshed(client: ClientBase, enqueue: () => Promise<unknown>): Promise<number> {
  await enqueue()
  return timed(() => refreshAll(client))
}

/** Runs work while no change is listed. */
async function withoutListing<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query(`
    alter function daily.list_changes rename to list_changes_before;
    create function daily.list_changes(text, uuid[], date[]) returns void language sql as ''`)
  try {
    return await work()
  } finally {
    await client.query(`
      drop function daily.list_changes;
      alter function daily.list_changes_before rename to list_changes`)
  }
}

/** Rebuilds one metric after the other. Between them it vacuums, as autovacuum would within a minute. */
async function rebuild(client: ClientBase, metrics: readonly string[]): Promise<number> {
  let ms = 0
  for (const metric of metrics) {
    await client.query(`truncate daily.${metric}`)
    ms += await refreshed(client, () =>
      client.query('insert into daily.refresh_queue (metric) values ($1)', [metric]),
    )
    await client.query(`vacuum analyze daily.${metric}, daily.refresh_queue`)
  }
  return ms
}

type Day = { readonly metrics: readonly string[]; readonly brandId: string; readonly day: string }

const enqueueDay = (client: ClientBase, { metrics, brandId, day }: Day) =>
  client.query(
    'insert into daily.refresh_queue (metric, brand_id, date) select metric, $2, $3 from unnest($1::text[]) as metric',
    [metrics, brandId, day],
  )

/** Adds an answer to a day, with citations of that day's URLs. The triggers enqueue what changes. */
async function addAnswer(client: ClientBase, brandId: string, day: string): Promise<void> {
  await client.query(
    `with answer as (
       insert into answers (prompt_id, model_id, market_id, answered_at)
       select prompts.id, 'model-0', md5('market0')::uuid, $2::date::timestamp at time zone 'UTC' + interval '12 hours'
       from prompts where brand_id = $1 limit 1 returning id, answered_at)
     insert into citations (answer_id, url, domain, owned, recorded_at)
     select answer.id, url, domain, is_owned, answered_at
     from daily.citation_share, answer where brand_id = $1 and date = $2 limit 10`,
    [brandId, day],
  )
}

/** Returns another day of October at each call, so that no day is still in a cache. */
function days(): () => string {
  let turn = 0
  return () => {
    turn += 7
    return `2026-10-${String(1 + (turn % 31)).padStart(2, '0')}`
  }
}
