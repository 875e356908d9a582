import type { ClientBase } from 'pg'
import { metricsOf } from '../../../drizzle/db/verify.ts'
import changes from '../../../functions/changes.ts'
import citationShare from '../../../functions/citation-share.ts'
import { PAGE_SIZE } from '../../../lib/page.ts'
import { inDatabase } from '../database.ts'
import { firstPage } from '../first-page.ts'
import { fillMillion, rowBytes } from '../million.ts'
import { figure, type Section } from '../section.ts'
import { addTenant } from '../tenant.ts'
import { alternateTimes } from '../timing.ts'
import { LAST_DAY } from '../volume.ts'

const DAYS = 3 * 365
const ROUNDS = 400

/** What a page of the changes costs PostgreSQL, compared with a page of a metric. */
export const section: Section = ({ serverUrl, sized, report }) =>
  inDatabase(serverUrl, async (client) => {
    const tenant = await addTenant(client)
    report('daily rows')
    const brandId = await fillMillion(client, tenant, sized)
    report('three years of changes')
    const metrics = await metricsOf(client)
    await client.query(
      `select daily.list_changes(array_agg(metric), array_agg($2::uuid), array_agg(date '${LAST_DAY}' - ago))
       from unnest($1::text[]) as metric, generate_series(0, ${DAYS - 1}) as ago`,
      [metrics, brandId],
    )
    const dailyBrandId = await listDayByDay(client, metrics, brandId)
    await client.query('vacuum analyze')
    const { rows } = await client.query<{ listed: number; last: string }>(
      'select count(*)::int as listed, max(changed_at) as last from daily.changes where brand_id = $1',
      [brandId],
    )
    const { listed = 0, last = '' } = rows[0] ?? {}
    report(`${ROUNDS} rounds`)
    const page = firstPage(client, tenant.key)
    const time = await alternateTimes(
      {
        metric: await page(citationShare, brandId),
        full: await page(changes, brandId),
        daily: await page(changes, dailyBrandId),
        empty: await page(changes, brandId, last),
      },
      ROUNDS,
    )
    const { table, index } = await rowBytes(client, 'changes')
    return [
      {
        title: 'A page of changes in PostgreSQL',
        columns: ['', 'relative to a page of citation share', 'goal'],
        rows: [
          [`${PAGE_SIZE} changes, listed in one run`, time('full') / time('metric'), 1.4],
          [
            `${PAGE_SIZE} changes, listed day by day next to other brands`,
            time('daily') / time('metric'),
            1.4,
          ],
          ['no change', time('empty') / time('metric'), 0.5],
        ],
        note: `1 = ${figure(time('metric'))} ms. Medians of ${ROUNDS} alternating rounds of the Workers' own statements, in one session. Three years of all metrics are ${figure(listed)} changes: ${Math.ceil(listed / PAGE_SIZE)} pages. A change takes ${figure(table)} bytes, and ${figure(index)} of indexes.`,
      },
    ]
  })

/** Lists the days of all other brands as refreshes do, one after the other. Returns one of the brands. */
async function listDayByDay(
  client: ClientBase,
  metrics: readonly string[],
  brandId: string,
): Promise<string> {
  const { rows } = await client.query<{ ids: string[] }>(
    'select array_agg(id) as ids from brands where id <> $1',
    [brandId],
  )
  const [{ ids } = { ids: [] }] = rows
  for (let ago = DAYS - 1; ago >= 0; ago -= 1) {
    await client.query(
      `select daily.list_changes(array_agg(metric), array_agg(id), array_agg(date '${LAST_DAY}' - $2::int))
       from unnest($3::text[]) as metric, unnest($1::uuid[]) as id`,
      [ids, ago, metrics],
    )
  }
  return ids[0] ?? ''
}
