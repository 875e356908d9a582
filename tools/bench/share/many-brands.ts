import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { PUTS_AT_ONCE } from '../../../lib/share/publish.ts'
import { inDatabase } from '../database.ts'
import type { Setting, Table } from '../section.ts'
import { LATENCY_MS } from '../steady-load.ts'
import { addTenant } from '../tenant.ts'
import { median } from '../timing.ts'
import { LAST_DAY } from '../volume.ts'
import { publishAll, type Run, withServiceAway } from './service-away.ts'

const BRANDS = 1300
const ROUNDS = 3

/** Milliseconds to R2 and back, for which the time of a run is computed. */
const DISTANCES_MS = [50, 100]

/** The rows of a day: their number, their cells after brand and date, and the one that changes. */
const DAY = {
  visibility: [20, `'model-' || n, 'Provider', md5(n::text)::uuid, 'Market', 40, n, 0.5`, 'visible_count'],
  competitors: [4, `'Rival ' || n, 40, n, 0.5`, 'total_responses'],
  citations: [40, `md5(n::text)::uuid, 'https://site.example/' || n, 'site.example', false, n`, 'citations'],
  citation_share: [
    40,
    `md5(n::text)::uuid, 'https://site.example/' || n, 'site.example', false, n, 0`,
    'citations',
  ],
  sentiment: [1, '3, 4, 5, 2.5, 1.5, 0.3', 'neutral_mentions'],
  recommended_rate: [4, `n > 1, 'Entity ' || n, n = 1, 0.5, 20`, 'judged_answers'],
} as const

/** How long a run takes when a day of every table and brand has changed. */
export const measureManyBrands = ({ serverUrl, sized, report }: Setting): Promise<Table> =>
  inDatabase(serverUrl, async (client, url) => {
    const brands = await addBrandsOfOneDay(client, sized(BRANDS))
    return withServiceAway(url, async ({ publish }) => {
      report(`the first publish of ${brands.length} brands`)
      await publishAll(publish)
      const runs: Run[] = []
      while (runs.length < ROUNDS) {
        for (const [metric, [, , counter]] of Object.entries(DAY)) {
          await client.query(`update daily.${metric} set ${counter} = ${counter} + 1`)
        }
        await listDay(client, brands)
        report('a run')
        runs.push(await publish())
      }
      const seconds = median(runs.map((run) => run.seconds))
      const objects = median(runs.map((run) => run.objects))
      return {
        title: 'A run of the publisher when a day of six tables of each brand has changed, seconds',
        columns: ['brands', 'objects', 'R2 near', ...DISTANCES_MS.map((ms) => `R2 ${ms} ms away`)],
        rows: [
          [
            brands.length,
            objects,
            seconds,
            ...DISTANCES_MS.map((ms) => seconds + ((objects / PUTS_AT_ONCE) * ms) / 1000),
          ],
        ],
        note: `Neon is ${LATENCY_MS} ms away. The distance of R2 is computed: ${PUTS_AT_ONCE} objects are written at a time. Median of ${ROUNDS} runs.`,
      }
    })
  })

/** Adds brands with a day of each table, as refreshes leave them, and returns their ids. */
async function addBrandsOfOneDay(client: ClientBase, count: number): Promise<string[]> {
  const { organizationId } = await addTenant(client)
  const brands = Array.from({ length: count }, () => randomUUID())
  await client.query(
    `insert into brands (id, organization_id, name, display_name, url, site_url, aliases)
     select id, $2, 'Acme', 'Acme', 'acme.example', 'https://acme.example', '{}' from unnest($1::uuid[]) as id`,
    [brands, organizationId],
  )
  for (const [metric, [rows, cells]] of Object.entries(DAY)) {
    await client.query(
      `insert into daily.${metric} select id, $2::date, ${cells} from unnest($1::uuid[]) as id, generate_series(1, ${rows}) as n`,
      [brands, LAST_DAY],
    )
  }
  await listDay(client, brands)
  await client.query('vacuum analyze')
  return brands
}

/** Lists the day as changed in each table, as a refresh does. */
const listDay = (client: ClientBase, brands: readonly string[]) =>
  client.query(
    `select daily.list_changes(array_agg(metric), array_agg(id), array_agg($2::date))
     from unnest($1::uuid[]) as id, daily.row_schemas`,
    [brands, LAST_DAY],
  )
