import { createDatabase } from '../database.ts'
import { alternate, timed } from '../measure.ts'
import { figure, type Section } from '../section.ts'
import { startService } from '../service.ts'
import { addTenant } from '../tenant.ts'
import { LAST_DAY } from '../volume.ts'

const ROUNDS = 30

/** Days of a brand and endpoint, and its endpoints. */
const DAYS = 365
const ENDPOINTS = [
  'visibility',
  'competitors',
  'citations',
  'citation-share',
  'sentiment',
  'recommended-rate',
]

/** What a page of `/changes` costs PostgreSQL for a key with many brands, compared with a key with one. */
export const section: Section = async ({ serverUrl, sized, report }) => {
  const brands = sized(5000)
  report(`${figure(brands)} brands with ${figure(brands * DAYS * ENDPOINTS.length)} changes`)
  await using database = await createDatabase(serverUrl)
  const { client } = database
  const { organizationId, key } = await addTenant(client)
  await client.query(
    `insert into brands (organization_id, name, display_name, url, site_url)
     select $1, 'Acme ' || n, 'Acme', 'acme.example', 'https://acme.example' from generate_series(1, $2::int) as n`,
    [organizationId, brands],
  )
  // Each day changed at its end, and one in ten again later: brands differ by microseconds.
  await client.query(
    `insert into daily.changes (brand_id, endpoint, date, rows, totals, digest, causes, changed_at, batch)
     select id, endpoint, day, 10, '{"citations":10}', '000000000000000',
       json_build_object('citations', changed_at), changed_at, 1
     from (select id, row_number() over (order by id) as number from brands) as brand,
       unnest($1::text[]) as endpoint,
       generate_series(date '${LAST_DAY}' - ${DAYS - 1}, date '${LAST_DAY}', interval '1 day') as day,
       to_char(day + interval '1 day' * case when hashtext(id || day::text) % 10 = 0 then 31 else 1 end
         + number * interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as changed_at
     order by day, number`,
    [ENDPOINTS],
  )
  await client.query('vacuum analyze')
  const { rows } = await client.query<{ id: string; last: string; middle: string }>(
    `select (select id from brands limit 1) as id, max(changed_at) as last,
       percentile_disc(0.5) within group (order by changed_at) as middle
     from daily.changes where brand_id = (select id from brands limit 1)`,
  )
  const [{ id = '', last = '', middle = '' } = {}] = rows
  await using service = await startService({ databaseUrl: database.url })
  const { pool, state } = service
  /** Sends a request, and returns the number of its rows, and what times its statement again. */
  const ask = async (query: string) => {
    const path = `/api/export/v1/changes?${query}`
    const { body } = await pool.request({ path, method: 'GET', headers: { 'X-API-Key': key } })
    const page = await body.json()
    const { query: text, params } = state.sent
    const found = typeof page === 'object' && page !== null && 'data' in page ? page.data : null
    if (!Array.isArray(found)) throw new Error(`${path}: ${JSON.stringify(page)}`)
    return {
      rows: found.length,
      replay: () => timed(() => client.query({ text, values: [...params], rowMode: 'array' })),
    }
  }
  const end = '9999-12-31T00:00:00Z'
  const pages = {
    'first, all brands': await ask(''),
    'middle, all brands': await ask(`since=${middle}`),
    'one day late, all brands': await ask(`since=${last.slice(0, 10)}T00:00:00Z`),
    'nothing new, all brands': await ask(`since=${end}`),
    'first, one brand': await ask(`brandId=${id}`),
    'nothing new, one brand': await ask(`brandId=${id}&since=${end}`),
  }
  report(`${ROUNDS} rounds of pages`)
  const names = Object.keys(pages)
  const measured = await alternate(
    Object.fromEntries(Object.entries(pages).map(([name, { replay }]) => [name, replay])),
    ROUNDS,
  )
  const ms = (name: string) => measured(name, (time) => time)
  return [
    {
      title: `A page of /changes in PostgreSQL, of ${figure(brands)} brands with ${figure(brands * DAYS * ENDPOINTS.length)} changes`,
      columns: ['page', 'rows', 'ms', 'compared with the first page of one brand'],
      rows: names.map((name) => [
        name,
        Object.entries(pages).find(([each]) => each === name)?.[1].rows ?? 0,
        ms(name),
        ms(name) / ms('first, one brand'),
      ]),
      note: `Medians of ${ROUNDS} alternating rounds of the Worker's own statement.`,
    },
  ]
}
