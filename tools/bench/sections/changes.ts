import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClientBase } from 'pg'
import { bundleCommand } from '../../../connectors/typescript/build.ts'
import { BASE } from '../../../lib/app.ts'
import { PAGE_SIZE } from '../../../lib/page/statements.ts'
import { runNode } from '../child.ts'
import { inDatabase } from '../database.ts'
import { figure, type Section } from '../section.ts'
import { withService } from '../service.ts'
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
       select $1, 'visibility', date '2000-01-01' + n, 0, '{}', '000000000000000',
         '2026-10-01T00:00:00.' || lpad(n::text, 6, '0') || 'Z'
       from generate_series(1, $2::int) as n`,
      [brandId, PAGE_SIZE],
    )
    await client.query('vacuum analyze')
    return withService({ databaseUrl }, async ({ emulator: { url } }) => {
      const request = (query: Readonly<Record<string, string>>) => () =>
        timed(async () => {
          const response = await fetch(`${url}${BASE}/changes?${new URLSearchParams(query)}`, {
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
      report('runs of sync')
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
        {
          title: 'Requests of a sync without changes',
          columns: ['brands', 'first sync', 'next sync'],
          rows: [
            [1, ...(await requestsOfSync({ url, key, brands: ['--brand', brandId ?? ''] }))],
            [own, ...(await requestsOfSync({ url, key, brands: [] }))],
          ],
          note: 'The days of all brands have become empty. Goal of the next sync: 2.',
        },
      ]
    })
  })

/** Syncs to a new folder twice. Returns the requests of both runs. */
async function requestsOfSync({
  url,
  key,
  brands,
}: {
  readonly url: string
  readonly key: string
  readonly brands: readonly string[]
}): Promise<number[]> {
  const work = await mkdtemp(join(tmpdir(), 'bench-changes-'))
  const command = join(work, 'export-api.mjs')
  try {
    await bundleCommand(command)
    const requests: number[] = []
    for (let run = 0; run < 2; run += 1) {
      const args = ['sync', '--out', join(work, 'copy'), ...brands]
      const { lines } = await runNode(command, args, { EXPORT_API_URL: url, EXPORT_API_KEY: key })
      requests.push(JSON.parse(lines.at(-1) ?? '').requests)
    }
    return requests
  } finally {
    await rm(work, { recursive: true })
  }
}

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
     select id, 'citations', date '2026-01-01' + n, 0, '{}', '000000000000000',
       '2026-11-01T00:00:00.' || lpad((n * 1000 + random() * 999)::int::text, 6, '0') || 'Z'
     from brands cross join generate_series(1, $2::int) as n where organization_id = $1`,
    [organizationId, CHANGES_PER_BRAND],
  )
  return rows.map(({ id }) => id)
}
