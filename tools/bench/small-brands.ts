import type { ClientBase } from 'pg'
import { listDays } from './brand-year.ts'
import { FIRST_DAY } from './million.ts'
import { LAST_DAY } from './volume.ts'

export const ROWS_PER_DAY = 18

/** Fills `daily.citation_share` with a year of brands that have few rows a day, and lists their days. */
export async function fillSmallBrands(
  client: ClientBase,
  { organizationId, brands }: { readonly organizationId: string; readonly brands: number },
): Promise<void> {
  const { rows } = await client.query<{ brandId: string }>(
    `insert into brands (organization_id, name, display_name, url, site_url)
     select $1, n, n, n, n from generate_series(1, $2::int) as n returning id as "brandId"`,
    [organizationId, brands],
  )
  await client.query(
    `insert into daily.citation_share (brand_id, date, url_hash, url, domain, is_owned, citations, owned_citations)
     select brand_id, day, md5(brand_id || ' ' || u)::uuid as url_hash,
       'https://www.site-' || u || '.example/articles/2026/' || md5(u::text) || '-review',
       'site-' || u || '.example', false, 1 + extract(day from day)::int * u % 40, 0
     from unnest($1::uuid[]) as brand_id, generate_series(date '${FIRST_DAY}', '${LAST_DAY}', '1 day') as day,
       generate_series(1, ${ROWS_PER_DAY}) as u
     order by day, brand_id, url_hash`,
    [rows.map(({ brandId }) => brandId)],
  )
  await client.query('vacuum analyze')
  const { rows: dates } = await client.query<{ day: string }>(
    `select day::date::text as day from generate_series(date '${FIRST_DAY}', '${LAST_DAY}', '1 day') as day`,
  )
  const days = dates.map(({ day }) => day)
  for (const { brandId } of rows) await listDays(client, { brandId, days })
}
