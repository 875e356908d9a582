import type { ClientBase } from 'pg'
import { enqueueAll, refreshAll } from '../../../drizzle/db/refresh.ts'
import { metricsOf } from '../../../drizzle/db/verify.ts'
import { inDatabase } from '../database.ts'
import { figure } from '../print.ts'
import { alternate, timed } from '../rounds.ts'
import type { Section } from '../section.ts'
import { addBrand, tenant } from '../tenant.ts'
import { withoutTriggers } from '../triggers.ts'
import { fill } from '../volume.ts'

const DAYS = 90
const ROUNDS = { rebuild: 2, day: 15 }

/** What one day costs to compute anew, against all days of a brand with two million citations. */
export const section: Section = ({ serverUrl, sized, tell }) =>
  inDatabase(serverUrl, async (client) => {
    const brandId = await addBrand(client, await tenant(client))
    const answers = sized(200_000)
    tell(`a brand with ${figure(answers * 10)} citations`)
    await withoutTriggers(client, () => fill(client, { brandId, answers, days: DAYS, citations: [10, 10] }))
    await client.query('vacuum analyze')
    const metrics = await metricsOf(client)
    const all = metrics.join(', ')

    tell('every day')
    const rebuild = await alternate(
      {
        ...Object.fromEntries(metrics.map((metric) => [metric, () => rebuilt(client, metric)])),
        equal: () => noted(client, () => enqueueAll(client)),
      },
      ROUNDS.rebuild,
    )
    await client.query('vacuum analyze')

    tell('one day')
    const someDay = daysInTurn()
    const oneDay = (some: readonly string[]) => async () => {
      const day = someDay()
      return noted(client, () => noteDay(client, { metrics: some, brandId, day }))
    }
    const day = await alternate(
      {
        ...Object.fromEntries(metrics.map((metric) => [metric, oneDay([metric])])),
        [all]: oneDay(metrics),
        emptied: () => emptied(client, { metrics, brandId, day: someDay() }),
        changed: () => noted(client, () => addAnswer(client, brandId, someDay())),
      },
      ROUNDS.day,
    )

    const share = (ms: number, of: number) => `${figure((100 * ms) / of)} %`
    const total = metrics.reduce((sum, metric) => sum + rebuild(metric), 0)
    return [
      {
        title: `Refreshing one day of a brand with ${figure(answers * 10)} citations over ${DAYS} days`,
        columns: ['refreshed', 'one day, of the same in all days', 'one day, of rebuilding everything'],
        rows: [
          ...metrics.map((metric) => [
            `${metric}, nothing differs`,
            share(day(metric), rebuild(metric)),
            share(day(metric), total),
          ]),
          ['all metrics, nothing differs', share(day(all), rebuild('equal')), share(day(all), total)],
          [
            'all metrics, the day’s rows were gone',
            share(day('emptied'), total),
            share(day('emptied'), total),
          ],
          ['an answer with 10 citations came', share(day('changed'), total), share(day('changed'), total)],
        ],
        note: `Goal: at most 2 %; a ninetieth is 1.11 %. Rebuilding everything from nothing, metric after metric: 100 % = ${figure(total)} ms (${metrics.map((metric) => `${metric} ${share(rebuild(metric), total)}`).join(', ')}); computing everything anew where nothing differs: ${share(rebuild('equal'), total)}. Medians of ${ROUNDS.rebuild} and ${ROUNDS.day} alternating rounds.`,
      },
    ]
  })

async function noted(client: ClientBase, note: () => Promise<unknown>): Promise<number> {
  await note()
  return timed(() => refreshAll(client))
}

async function rebuilt(client: ClientBase, metric: string): Promise<number> {
  await client.query(`truncate daily.${metric}`)
  const ms = await noted(client, () =>
    client.query('insert into daily.refresh_queue (metric) values ($1)', [metric]),
  )
  // As autovacuum would within a minute.
  await client.query(`vacuum analyze daily.${metric}, daily.refresh_queue`)
  return ms
}

type Day = { readonly metrics: readonly string[]; readonly brandId: string; readonly day: string }

const noteDay = (client: ClientBase, { metrics, brandId, day }: Day) =>
  client.query(
    'insert into daily.refresh_queue (metric, brand_id, date) select metric, $2, $3 from unnest($1::text[]) as metric',
    [metrics, brandId, day],
  )

async function emptied(client: ClientBase, day: Day): Promise<number> {
  for (const metric of day.metrics)
    await client.query(`delete from daily.${metric} where date = $1`, [day.day])
  return noted(client, () => noteDay(client, day))
}

/** Adds an answer to a day, with citations of that day's URLs, all noted by the triggers. */
async function addAnswer(client: ClientBase, brandId: string, day: string): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `insert into answers (prompt_id, model_id, market_id, answered_at)
     select prompts.id, 'model-0', md5('market0')::uuid, $2::date::timestamp at time zone 'UTC' + interval '12 hours'
     from prompts where brand_id = $1 limit 1 returning id`,
    [brandId, day],
  )
  await client.query(
    `insert into citations (answer_id, url, domain, owned, recorded_at)
     select $1, url, domain, is_owned, $3::date::timestamp at time zone 'UTC' + interval '12 hours'
     from daily.citation_share where brand_id = $2 and date = $3 limit 10`,
    [rows[0]?.id, brandId, day],
  )
}

/** Another day of October each time: in the middle of the data, and never one that was just read. */
function daysInTurn(): () => string {
  let turn = 0
  return () => {
    turn += 7
    return `2026-10-${String(1 + (turn % 31)).padStart(2, '0')}`
  }
}
