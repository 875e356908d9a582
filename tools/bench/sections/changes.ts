import { fillPlaceholders } from 'drizzle-orm'
import type { ClientBase } from 'pg'
import { metricsOf } from '../../../drizzle/db/verify.ts'
import changes from '../../../functions/changes.ts'
import citationShare from '../../../functions/citation-share.ts'
import { sha256 } from '../../../lib/hash.ts'
import type { DocumentedWorker } from '../../../lib/operation.ts'
import { PAGE_SIZE } from '../../../lib/page.ts'
import { callOf } from '../../../lib/prepared-statement.ts'
import { windowByPlan } from '../../../lib/window-by-plan.ts'
import { inDatabase } from '../database.ts'
import { fillMillion, rowBytes } from '../million.ts'
import { figure, type Section } from '../section.ts'
import { addTenant } from '../tenant.ts'
import { alternateTimes, timed } from '../timing.ts'
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
    for (const metric of await metricsOf(client)) {
      await client.query(
        `select daily.list_changes($1, array_agg(id), array_agg(date '${LAST_DAY}' - ago))
         from brands, generate_series(0, $2 - 1) as ago`,
        [metric, DAYS],
      )
    }
    await client.query('vacuum analyze')
    const { rows } = await client.query<{ listed: number; last: string }>(
      'select count(*)::int as listed, max(changed_at)::text as last from daily.changes where brand_id = $1',
      [brandId],
    )
    const { listed = 0, last = '' } = rows[0] ?? {}
    const values = { key_hash: await sha256(tenant.key), brand_id: brandId }
    report(`${ROUNDS} rounds`)
    const time = await alternateTimes(
      {
        metric: await firstPage(client, citationShare, values),
        full: await firstPage(client, changes, { ...values, since: '-infinity' }),
        empty: await firstPage(client, changes, { ...values, since: last }),
      },
      ROUNDS,
    )
    const { table, index } = await rowBytes(client, 'changes')
    return [
      {
        title: 'A page of changes in PostgreSQL',
        columns: ['', 'relative to a page of citation share', 'goal'],
        rows: [
          [`${PAGE_SIZE} changes`, time('full') / time('metric'), 1.4],
          ['no change', time('empty') / time('metric'), 0.5],
        ],
        note: `1 = ${figure(time('metric'))} ms. Medians of ${ROUNDS} alternating rounds of the Workers' own statements, in one session. Three years of all metrics are ${figure(listed)} changes: ${Math.ceil(listed / PAGE_SIZE)} pages. A change takes ${figure(table)} bytes, and ${figure(index)} of indexes.`,
      },
    ]
  })

/** Returns a function that times the statement of a Worker's first page, over a window that has all rows. */
async function firstPage(
  client: ClientBase,
  { statements: [first] }: DocumentedWorker,
  values: Readonly<Record<string, string>>,
): Promise<() => Promise<number>> {
  if (first === undefined) throw new TypeError('The Worker has no statement')
  const { sql: text, params } = await callOf(first)
  const window = { first: '0001-01-01', last: '9999-12-31', end: '' }
  const all = {
    ...values,
    now: new Date().toISOString(),
    today: LAST_DAY,
    window_by_plan: windowByPlan(() => window),
  }
  const query = { text, values: fillPlaceholders(params, all), rowMode: 'array' as const }
  return () => timed(() => client.query(query))
}
