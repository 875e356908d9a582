import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import { startEmulator } from '../../../emulator/start.ts'
import { BASE } from '../../../lib/app.ts'
import { PAGE_SIZE } from '../../../lib/page/statements.ts'
import { inDatabase } from '../database.ts'
import { figure, type Section } from '../section.ts'
import { addTenant } from '../tenant.ts'
import { alternateTimes, timed } from '../timing.ts'

const ROUNDS = 30
const CHANGES_PER_BRAND = 100
const LATER = '9999-12-31T00:00:00.000000Z'

/** What the changes of all brands of a key cost, next to those of other customers. */
export const section: Section = ({ serverUrl, sized, report }) =>
  inDatabase(serverUrl, async (client, databaseUrl) => {
    const [own, others] = [sized(500), sized(5000)]
    report(`${figure(own)} brands next to ${figure(others)} of others`)
    const { organizationId, key } = await addTenant(client)
    const [brandId] = await addBrands(client, { organizationId, brands: own })
    await addBrands(client, { organizationId: (await addTenant(client)).organizationId, brands: others })
    await client.query(
      `insert into daily.changes
       select $1, 'visibility', date '2000-01-01' + n, 1, '{}', '000000000000000',
         '2026-10-01T00:00:00.' || lpad(n::text, 6, '0') || 'Z'
       from generate_series(1, $2::int) as n`,
      [brandId, PAGE_SIZE],
    )
    await client.query('vacuum analyze')
    const emulator = await startEmulator({ databaseUrl, host: '127.0.0.1', port: 0, crons: false })
    try {
      // Each request is of another client, whose budget is full.
      const request = (query: Readonly<Record<string, string>>) => () =>
        timed(async () => {
          const response = await fetch(`${emulator.url}${BASE}/changes?${new URLSearchParams(query)}`, {
            headers: { 'X-API-Key': key, 'User-Agent': randomUUID() },
          })
          const body = await response.text()
          if (response.status !== 200) throw new Error(`/changes returned ${response.status}: ${body}`)
        })
      report(`${ROUNDS} rounds of requests`)
      const ms = await alternateTimes(
        {
          'a full page of one brand': request({ brandId: brandId ?? '', toDate: '2020-01-01' }),
          'one brand, no row': request({ brandId: brandId ?? '', since: LATER }),
          'all brands, no row': request({ since: LATER }),
          'all brands, a full page': request({}),
        },
        ROUNDS,
      )
      const page = ms('a full page of one brand')
      return [
        {
          title: `Changes of a key with ${figure(own)} brands`,
          columns: ['response', 'relative to a full page of one brand'],
          rows: ['one brand, no row', 'all brands, no row', 'all brands, a full page'].map((name) => [
            name,
            ms(name) / page,
          ]),
          note: `Others have ${figure(others)} brands. Each brand has ${CHANGES_PER_BRAND} changes. Goal: at most 3 without rows. Medians of ${ROUNDS} alternating rounds, no distance.`,
        },
      ]
    } finally {
      await emulator.close()
    }
  })

/** Adds brands with changes, and returns their ids. */
async function addBrands(
  client: ClientBase,
  { organizationId, brands }: { organizationId: string; brands: number },
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `insert into brands (organization_id, name, display_name, url, site_url)
     select $1, n, n, n, n from generate_series(1, $2::int) as n returning id`,
    [organizationId, brands],
  )
  await client.query(
    `insert into daily.changes
     select id, 'citations', date '2026-01-01' + n, 1, '{}', '000000000000000',
       '2026-11-01T00:00:00.' || lpad((n * 1000 + random() * 999)::int::text, 6, '0') || 'Z'
     from brands cross join generate_series(1, $2::int) as n where organization_id = $1`,
    [organizationId, CHANGES_PER_BRAND],
  )
  return rows.map(({ id }) => id)
}
