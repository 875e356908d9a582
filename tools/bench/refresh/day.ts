import { logAll, refreshAll } from '../../../drizzle/db/refresh.ts'
import { metricsOf } from '../../../drizzle/db/verify.ts'
import { inDatabase } from '../database.ts'
import { figure, type Setting, type Table } from '../section.ts'
import { addBrand, addTenant } from '../tenant.ts'
import { alternateTimes, median, timed } from '../timing.ts'
import { fill } from '../volume.ts'

const DAYS = 90
const ROUNDS = { rebuild: 4, day: 15 }
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
    const all = await alternateTimes(
      {
        rebuild: () => refreshed(() => client.query(`truncate ${stored}`).then(() => logAll(client))),
        equal: () => refreshed(() => logAll(client)),
      },
      ROUNDS.rebuild,
    )
    report('one day')
    const addToDay = () => client.query(ADD_ANSWER, [brandId])
    const { rows } = await client.query(`select pg_get_functiondef('daily.list_changes'::regproc) as listing`)
    const one = await alternateTimes(
      {
        listed: () => client.query(rows[0].listing).then(() => refreshed(addToDay)),
        unlisted: () => client.query(NO_LISTING).then(() => refreshed(addToDay)),
      },
      ROUNDS.day,
    )
    await client.query(rows[0].listing)
    report(`${figure(RETIRED)} prompts of a brand`)
    const retired: number[] = []
    while (retired.length < ROUNDS.rebuild) {
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
        ['a day, after an answer with 10 citations', 'its rebuild', one('listed') / all('rebuild'), '0.02'],
        ['the same', 'without listing the change', one('listed') / one('unlisted'), '1.1'],
        ['all days, nothing differs', 'its rebuild', all('equal') / all('rebuild'), ''],
        [`another brand, ${figure(RETIRED)} prompts retired`, 'its rebuild', median(retired), '0.5'],
      ],
      note: `A rebuild takes ${figure(all('rebuild'))} ms; a ninetieth is 0.011. Medians of ${ROUNDS.rebuild} and ${ROUNDS.day} alternating rounds.`,
    }
  })

const NO_LISTING = `create or replace function daily.list_changes(metrics text[], brand_ids uuid[], dates date[])
  returns void language sql as ''`

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
