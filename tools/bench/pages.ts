import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ClientBase } from 'pg'
import { BASE } from '../../lib/app.ts'
import { inDatabase } from './database.ts'
import { connect, fetchBody, type HttpRequest } from './http.ts'
import { FIRST_DAY, fillMillion } from './million.ts'
import type { Setting } from './section.ts'
import { addTenant } from './tenant.ts'
import { LAST_DAY } from './volume.ts'
import { type Service, startService } from './workerd.ts'

/** The data that the service pages through: a year of one brand's citation share. */
export type Data = {
  readonly databaseUrl: string
  readonly redisUrl: string | undefined
  readonly brandId: string
  readonly key: string
}

export type Page = { readonly request: () => HttpRequest; readonly body: Buffer }

type PageBody = {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly pagination: { readonly nextCursor: string | null }
}

export type RunningService = {
  readonly client: ClientBase
  readonly data: Data
  readonly service: Service
  /** Rows before the deep page. */
  readonly depth: number
  readonly first: Page
  readonly deep: Page
}

/** Starts the service over one database with a million daily rows, and stops it after the work. */
export function withService<Result>(
  { serverUrl, sized, report }: Setting,
  work: (running: RunningService) => Promise<Result>,
): Promise<Result> {
  return inDatabase(serverUrl, async (client, databaseUrl) => {
    const redisUrl = process.env.REDIS_URL
    let service: Service | undefined
    try {
      report('a million daily rows')
      const tenant = await addTenant(client)
      const brandId = await fillMillion(client, tenant, sized)
      // A parallel worker's CPU time would disappear with its process.
      await client.query(`do $$ begin
        execute format('alter database %I set max_parallel_workers_per_gather = 0', current_database()); end $$`)
      const data = { databaseUrl, redisUrl, brandId, key: tenant.key }
      const depth = 1000 * Math.round(sized(400))
      service = await startService(databaseUrl, redisUrl)
      return await work({
        client,
        data,
        service,
        depth,
        ...(await pagesOf(service.url, data, client, depth)),
      })
    } finally {
      await service?.close()
    }
  })
}

/** Requests page after page, each with the cursor of the previous one. Each client sends half of its budget. */
export async function* walk(
  url: string,
  { brandId, key }: Pick<Data, 'brandId' | 'key'>,
): AsyncGenerator<Page & { readonly rows: PageBody['data'] }> {
  const path = `${BASE}/citation-share?brandId=${brandId}&fromDate=${FIRST_DAY}&toDate=${LAST_DAY}`
  const run = randomUUID()
  const pool = connect(url, 1)
  let requests = 0
  try {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const target: string = cursor === '' ? path : `${path}&cursor=${cursor}`
      const request = () => {
        requests += 1
        return {
          path: target,
          headers: { 'X-API-Key': key, 'User-Agent': `${run} ${Math.floor(requests / 50)}` },
        }
      }
      const body = await fetchBody(pool, request())
      const { data: rows, pagination }: PageBody = JSON.parse(body.toString())
      yield { request, body, rows }
      cursor = pagination.nextCursor
    }
  } finally {
    await pool.close()
  }
}

/** Returns the first and a deep page. Throws when their rows are not those that SQL gives. */
async function pagesOf(
  url: string,
  data: Data,
  client: ClientBase,
  depth: number,
): Promise<{ first: Page; deep: Page }> {
  let before = 0
  let first: Page | undefined
  for await (const page of walk(url, data)) {
    if (before === 0 || before === depth) {
      const { rows } = await client.query(
        `select date::text, url from daily.citation_share where brand_id = $1
         order by citation_share.date, url_hash offset $2 limit 1000`,
        [data.brandId, before],
      )
      const given = page.rows.map(({ date, url }) => ({ date, url }))
      if (!isDeepStrictEqual(given, rows)) throw new Error(`${url} returned wrong rows`)
      first ??= page
    }
    if (before === depth && first !== undefined) return { first, deep: page }
    before += page.rows.length
  }
  throw new Error(`${url} has no page ${depth} rows deep`)
}
