import { logAll, refreshAll } from '../../../drizzle/db/refresh.ts'
import { metricsOf } from '../../../drizzle/db/verify.ts'
import { inDatabase } from '../database.ts'
import { figure, type Setting, type Table } from '../section.ts'
import { addBrand, addTenant } from '../tenant.ts'
import { alternateTimes, median, timed } from '../timing.ts'
import { fill } from '../volume.ts'

const DAYS = 90
const ROUNDS = 5
const RETIRED = 2000

/** What it costs to refresh one day of a large brand, and a brand whose prompts were retired. */
export const day = ({ serverUrl, sized, report }: Setting): Promise<Table> =>
  inDatabase(serverUrl, async (client) => {
    const { organizationId } = await addTenant(client)
    const brandId = await addBrand(client, organizationId)
    const answers = sized(200_000)
    report(`a brand with ${figure(answers * 10)} citations`)
    await fill(client, { brandId, answers, days: DAYS, citations: [10, 10] })
    await client.query('vacuum analyze')
    const stored = (await metricsOf(client)).map((metric) => `daily.${metric}`)
    const refreshed = async (change: () => Promise<unknown>) => {
      await change()
      return timed(() => refreshAll(client))
    }
    const ms = await alternateTimes(
      {
        rebuild: () => refreshed(() => client.query(`truncate ${stored}`).then(() => logAll(client))),
        day: () => refreshed(() => client.query(ADD_ANSWER, [brandId])),
      },
      ROUNDS,
    )
    report(`${figure(RETIRED)} prompts of a brand`)
    const retired: number[] = []
    while (retired.length < ROUNDS) {
      const id = await addBrand(client, organizationId, RETIRED)
      await fill(client, { brandId: id, answers: sized(20_000), days: DAYS, citations: [2, 3] })
      await client.query('vacuum analyze')
      const rebuild = await refreshed(() => client.query('select daily.resolve()'))
      await client.query('vacuum analyze')
      const retire = 'update prompts set retired_at = now() where brand_id = $1'
      retired.push((await refreshed(() => client.query(retire, [id]))) / rebuild)
    }
    return {
      title: `Refreshing a brand with ${figure(answers * 10)} citations over ${DAYS} days`,
      columns: ['refresh', 'relative to', 'time', 'goal'],
      rows: [
        ['a day, after an answer with 10 citations', 'its rebuild', ms('day') / ms('rebuild'), '0.02'],
        [`another brand, ${figure(RETIRED)} prompts retired`, 'its rebuild', median(retired), '0.5'],
      ],
      note: `A rebuild takes ${figure(ms('rebuild'))} ms; a ninetieth is 0.011. Medians of ${ROUNDS} alternating rounds.`,
    }
  })

/** Adds an answer to a day, with citations of that day's URLs. */
const ADD_ANSWER = `
  with day as materialized (
    select date '2026-10-01' + floor(31 * random())::int as date
  ), answer as (
    insert into answers (prompt_id, model_id, market_id, answered_at)
    select prompts.id, 'model-0', md5('market0')::uuid, date::timestamp at time zone 'UTC' + interval '12 hours'
    from prompts cross join day where brand_id = $1 limit 1 returning id, answered_at
  )
  insert into citations (answer_id, url, domain, owned, recorded_at)
  select answer.id, url, domain, is_owned, answered_at
  from answer cross join day join daily.citation_share using (date) where brand_id = $1 limit 10`
