import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import type { Dispatcher } from 'undici'
import { BASE } from '../../lib/http/app.ts'
import { createDatabase, type Database } from './database.ts'
import type { Setting } from './section.ts'
import { type Service, startService } from './service.ts'
import { addBrands, addTenant } from './tenant.ts'
import { LAST_DAY } from './volume.ts'

/** The first day of the rows: a year before the last one. */
export const FIRST_DAY = '2025-11-21'

/** Rows per day of the large brand, and of each of 21 others. Together they have a million in a year. */
const ROWS_PER_DAY = { large: 1250, other: 71 }
const OTHERS = 21

/** All Workers, over a million daily rows of which one brand has almost half. */
export type BrandYear = Database &
  Service & {
    readonly key: string
    readonly brandId: string
    readonly year: Year
  }

/** Starts the service over a year of a brand's rows. */
export async function startBrandYear(
  { serverUrl, sized, report }: Setting,
  redisUrl?: string,
): Promise<BrandYear> {
  report('a million daily rows')
  const database = await createDatabase(serverUrl)
  const { client } = database
  const { organizationId, key } = await addTenant(client)
  const [brandId = '', ...others] = await addBrands(client, organizationId, 1 + OTHERS)
  const rowsPerDay = new Map(others.map((id) => [id, Math.round(sized(ROWS_PER_DAY.other))]))
  await fillUrls(client, rowsPerDay.set(brandId, sized(ROWS_PER_DAY.large)))
  await listDays(client, 'citation_share', [brandId])
  const service = await startService({ databaseUrl: database.url, redisUrl })
  return {
    ...database,
    ...service,
    key,
    brandId,
    year: yearOf(service.pool, { key, brandId }),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

/**
 * Fills `daily.citation_share` with rows of each day, by default of a year, in the order in which refreshes leave them. URLs
 * have about 80 characters. A few of the large brand's are new each day.
 */
export async function fillUrls(
  client: ClientBase,
  rowsPerDay: ReadonlyMap<string, number>,
  firstDay = FIRST_DAY,
): Promise<void> {
  await client.query(
    `insert into daily.citation_share (brand_id, date, url_hash, url, domain, is_owned, citations, owned_citations)
     select brand_id, date '${LAST_DAY}' - ago as date, md5(brand_id || ' ' || u)::uuid as url_hash,
       'https://www.site-' || lpad((u % 97)::text, 2, '0') || '.example/articles/2026/' || md5(u::text) || '-review',
       'site-' || lpad((u % 97)::text, 2, '0') || '.example', u % 97 = 0, 1 + u % 40, case when u % 97 = 0 then 1 + u % 40 else 0 end
     from unnest($1::uuid[], $2::int[]) as brand(brand_id, rows),
       generate_series(0, date '${LAST_DAY}' - $3::date) as ago,
       generate_series(ago * (rows / 73), ago * (rows / 73) + rows - 1) as u
     order by date, brand_id, url_hash`,
    [[...rowsPerDay.keys()], [...rowsPerDay.values()], firstDay],
  )
  await client.query('vacuum analyze')
}

/** Lists the days of a metric's rows as refreshes do. */
export const listDays = (client: ClientBase, metric: string, brandIds: readonly string[]) =>
  client.query(
    `select daily.list_changes(jsonb_agg(summary || '{"causes": ["citations"]}'))
     from (select array_agg(brand_id) as brand_ids, array_agg(date) as dates
       from (select distinct brand_id, date from daily.${metric} where brand_id = any ($2)) as day) as day
     cross join lateral daily.summaries($1, brand_ids, dates) as summary`,
    [metric, brandIds],
  )

/** How a brand's rows are requested: the first page's path, and the headers of every request. */
export type Year = {
  readonly client: Dispatcher
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export const yearOf = (
  client: Dispatcher,
  { brandId, key }: { readonly brandId: string; readonly key: string },
): Year => ({
  client,
  path: `${BASE}/citation-share?brandId=${brandId}&fromDate=${FIRST_DAY}&toDate=${LAST_DAY}`,
  headers: { 'X-API-Key': key, 'User-Agent': randomUUID() },
})

/** Requests one page. Returns its body, and the path of the next one, which its `Link` header has. */
export async function requestPage({ client, path, headers }: Year) {
  const response = await client.request({ path, method: 'GET', headers })
  const body = await response.body.text()
  if (response.statusCode !== 200) throw new Error(`${path} returned ${response.statusCode}: ${body}`)
  const link = /<(.+?)>/.exec(String(response.headers.link))?.[1]
  return { body, next: link?.slice(new URL(link).origin.length) }
}

/** Requests page after page. `onPage` runs after each. */
export async function requestPages(year: Year, onPage = (_body: string) => {}): Promise<void> {
  let path: string | undefined = year.path
  while (path !== undefined) {
    const { body, next } = await requestPage({ ...year, path })
    onPage(body)
    path = next
  }
}

/** Receives what a path returns without keeping it. */
export async function download({ client, path, headers }: Year): Promise<void> {
  const { statusCode, body } = await client.request({ path, method: 'GET', headers })
  if (statusCode !== 200) throw new Error(`${path} returned ${statusCode}`)
  for await (const _ of body);
}
