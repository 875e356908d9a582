import type { ClientBase } from 'pg'
import { PAGE_SIZE } from '../../lib/page.ts'
import { addBrand, type Tenant } from './tenant.ts'
import { LAST_DAY } from './volume.ts'

/** The brands of the filled table, the first of which has almost half of its rows. */
const BRANDS = 22

/** Days of history: a year. */
const DAYS = 365

/** The first of them. */
export const FIRST_DAY = '2025-11-21'

/** Rows of the large brand, and of all others together, on a day of the full size. */
const ROWS_A_DAY = { large: 1_250, others: 1_500 }

/** The key of a row of citation share, and its URL. */
export type Row = { readonly date: string; readonly url_hash: string; readonly url: string }

/** The large brand, and how many rows lie ahead of its deep page. */
export type Million = { readonly brandId: string; readonly rows: number; readonly depth: number }

/**
 * Fills `daily.citation_share` with a million rows of a year and 22 brands, a day's rows in key order as a refresh leaves
 * them. URLs have some 80 characters, and most of a day's are the day before's.
 */
export async function fillMillion(
  client: ClientBase,
  whose: Tenant,
  sized: (full: number) => number,
): Promise<Million> {
  const brandIds: string[] = []
  for (let brand = 0; brand < BRANDS; brand += 1) brandIds.push(await addBrand(client, whose))
  const [brandId = ''] = brandIds
  await client.query(
    `insert into daily.citation_share (brand_id, date, url_hash, url, domain, is_owned, citations, owned_citations)
     select brand_id, date '${LAST_DAY}' - ago as date, md5(brand_id || ' ' || u)::uuid as url_hash,
       'https://www.site-' || lpad((u % 97)::text, 2, '0') || '.example/articles/2026/' || md5(u::text) || '-review',
       'site-' || lpad((u % 97)::text, 2, '0') || '.example', u % 97 = 0, 1 + u % 40, case when u % 97 = 0 then 1 + u % 40 else 0 end
     from unnest($1::uuid[]) with ordinality as brand(brand_id, ordinal),
       generate_series(0, ${DAYS - 1}) as ago,
       generate_series(ago * 17, ago * 17 + case ordinal when 1 then $2::int else $3::int end - 1) as u
     order by date, brand_id, url_hash`,
    [brandIds, Math.round(sized(ROWS_A_DAY.large)), Math.round(sized(ROWS_A_DAY.others) / (BRANDS - 1))],
  )
  // The notes that the brands' own rows left: on a service at rest there are none.
  await client.query('truncate daily.refresh_queue')
  await client.query('vacuum analyze')
  const { rows } = await client.query<{ n: number }>(
    'select count(*)::int as n from daily.citation_share where brand_id = $1',
    [brandId],
  )
  return { brandId, rows: rows[0]?.n ?? 0, depth: Math.round(sized(400_000)) }
}

/** The rows of one page of the large brand by plain SQL, and the row ahead of them. */
export async function rowsAt(
  client: ClientBase,
  brandId: string,
  depth: number,
): Promise<{ before: Row | undefined; page: readonly Row[] }> {
  const ahead = Math.min(depth, 1)
  const { rows } = await client.query<Row>(
    `select date::text, url_hash, url from daily.citation_share where brand_id = $1
     order by brand_id, citation_share.date, citation_share.url_hash offset $2 limit $3`,
    [brandId, depth - ahead, PAGE_SIZE + ahead],
  )
  const page = rows.slice(ahead)
  if (page.length !== PAGE_SIZE) throw new Error(`There is no full page ${depth} rows deep`)
  return { before: ahead === 1 ? rows[0] : undefined, page }
}
