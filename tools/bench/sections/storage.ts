import type { ClientBase } from 'pg'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { metricsOf } from '../../../drizzle/db/verify.ts'
import { inDatabase } from '../database.ts'
import { figure } from '../print.ts'
import type { Section } from '../section.ts'
import { addBrand, tenant } from '../tenant.ts'
import { withoutTriggers } from '../triggers.ts'
import { fill } from '../volume.ts'

const BRANDS = 40
const DAYS = 90

/** What a daily row takes, metric by metric. */
export const section: Section = ({ serverUrl, sized, tell }) =>
  inDatabase(serverUrl, async (client) => {
    const answers = sized(200_000)
    tell(`${figure(answers)} answers of ${BRANDS} brands`)
    const whose = await tenant(client)
    await withoutTriggers(client, async () => {
      for (let brand = 0; brand < BRANDS; brand += 1) {
        const brandId = await addBrand(client, whose)
        await fill(client, { brandId, answers: answers / BRANDS, days: DAYS, citations: [2, 3] })
      }
    })
    await client.query('vacuum analyze')
    const metrics = await metricsOf(client)
    await client.query('insert into daily.refresh_queue (metric) select unnest($1::text[])', [metrics])
    await refreshAll(client)
    const rows = []
    for (const metric of metrics) rows.push(await taken(client, metric, answers))
    return [
      {
        title: 'What a daily row takes',
        columns: ['metric', 'rows', 'rows an answer', 'heap, bytes a row', 'index, bytes a row', 'together'],
        rows,
        note: `${BRANDS} brands with ${figure(answers)} answers over ${DAYS} days, just rebuilt, before any later change. URLs have some 70 bytes.`,
      },
    ]
  })

async function taken(client: ClientBase, metric: string, answers: number): Promise<(string | number)[]> {
  const { rows } = await client.query<{ rows: number; heap: number; index: number }>(
    `select count(*)::int as rows, pg_table_size($1::regclass)::float8 as heap, pg_indexes_size($1::regclass)::float8 as index
     from ${client.escapeIdentifier('daily')}.${client.escapeIdentifier(metric)}`,
    [`daily.${metric}`],
  )
  return rows.flatMap(({ rows, heap, index }) => [
    metric,
    rows,
    (rows / answers).toPrecision(2),
    Math.round(heap / rows),
    Math.round(index / rows),
    Math.round((heap + index) / rows),
  ])
}
