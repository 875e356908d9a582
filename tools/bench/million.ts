import type { ClientBase } from 'pg'
import { addBrand } from './tenant.ts'
import { LAST_DAY } from './volume.ts'

const BRANDS = 22
const DAYS = 365

/** The first day of the rows: a year before the last one. */
export const FIRST_DAY = '2025-11-21'

/** Rows per day of the large brand, and of all other brands together. */
const ROWS_PER_DAY = { large: 1_250, others: 1_500 }

/**
 * Fills `daily.citation_share` with a million rows of a year and 22 brands, in the order in which refreshes leave them.
 * Returns the large brand, which has almost half of the rows. URLs have about 80 characters.
 */
export async function fillMillion(
  client: ClientBase,
  organizationId: string,
  sized: (full: number) => number,
): Promise<string> {
  const brandIds: string[] = []
  for (let brand = 0; brand < BRANDS; brand += 1) brandIds.push(await addBrand(client, organizationId))
  await client.query(
    `insert into daily.citation_share (brand_id, date, url_hash, url, domain, is_owned, citations, owned_citations)
     select brand_id, date '${LAST_DAY}' - ago as date, md5(brand_id || ' ' || u)::uuid as url_hash,
       'https://www.site-' || lpad((u % 97)::text, 2, '0') || '.example/articles/2026/' || md5(u::text) || '-review',
       'site-' || lpad((u % 97)::text, 2, '0') || '.example', u % 97 = 0, 1 + u % 40, case when u % 97 = 0 then 1 + u % 40 else 0 end
     from unnest($1::uuid[]) with ordinality as brand(brand_id, ordinal),
       generate_series(0, ${DAYS - 1}) as ago,
       generate_series(ago * 17, ago * 17 + case ordinal when 1 then $2::int else $3::int end - 1) as u
     order by date, brand_id, url_hash`,
    [brandIds, Math.round(sized(ROWS_PER_DAY.large)), Math.round(sized(ROWS_PER_DAY.others) / (BRANDS - 1))],
  )
  await client.query('vacuum analyze')
  return brandIds[0] ?? ''
}

/** Returns bytes per stored row of a metric: of the table and of its index. */
export async function rowBytes(
  client: ClientBase,
  metric: string,
): Promise<{ rows: number; table: number; index: number }> {
  const table = `daily.${client.escapeIdentifier(metric)}`
  const { rows } = await client.query<{ rows: number; table: number; index: number }>(
    `select count(*)::int as rows, pg_table_size('${table}') / count(*)::float8 as table,
       pg_indexes_size('${table}') / count(*)::float8 as index from ${table}`,
  )
  return rows[0] ?? { rows: 0, table: Number.NaN, index: Number.NaN }
}
