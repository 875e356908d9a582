import { isDeepStrictEqual } from 'node:util'
import type { ClientBase } from 'pg'
import { claimRedis } from '../../test/support/redis.ts'
import type { Contender, Data, Server } from './contenders.ts'
import { inDatabase } from './database.ts'
import { connect, fetchBody, type HttpRequest } from './http.ts'
import { fillMillion } from './million.ts'
import type { Setting } from './section.ts'
import { addTenant } from './tenant.ts'

/** A page of a server, with its rows compared with plain SQL. */
export type Page = { readonly request: () => HttpRequest; readonly body: Buffer }

export type Competitor = {
  readonly name: string
  readonly server: Server
  readonly first: Page
  readonly deep: Page
}

export type Comparison = {
  readonly client: ClientBase
  readonly data: Data
  /** Rows before the deep page. */
  readonly depth: number
  readonly competitors: readonly Competitor[]
}

/** Starts servers over one database with a million daily rows, and stops them after the work. */
export function withServers<Result>(
  { serverUrl, sized, report }: Setting,
  contenders: readonly Contender[],
  work: (comparison: Comparison) => Promise<Result>,
): Promise<Result> {
  return inDatabase(serverUrl, async (client, databaseUrl) => {
    const redis = process.env.REDIS_URL ? await claimRedis(process.env.REDIS_URL) : undefined
    const servers: Server[] = []
    try {
      report('a million daily rows')
      const tenant = await addTenant(client)
      const brandId = await fillMillion(client, tenant, sized)
      // A parallel worker's CPU time would disappear with its process.
      await client.query(`do $$ begin
        execute format('alter database %I set max_parallel_workers_per_gather = 0', current_database()); end $$`)
      const data = { databaseUrl, redisUrl: redis?.url, brandId, key: tenant.key }
      const depth = 1000 * Math.round(sized(400))
      const competitors: Competitor[] = []
      for (const { name, start } of contenders) {
        report(name)
        const server = await start(data)
        servers.push(server)
        competitors.push({ name, server, ...(await pagesOf(server, client, { brandId, depth })) })
      }
      return await work({ client, data, depth, competitors })
    } finally {
      await Promise.all(servers.map(({ close }) => close()))
      await redis?.release()
    }
  })
}

/** Requests page after page, each with the cursor of the previous one. */
export async function* walk(
  server: Pick<Server, 'url' | 'page' | 'next'>,
): AsyncGenerator<Page & { readonly json: unknown; readonly ms: number }> {
  const pool = connect(server.url, 1)
  try {
    let cursor: string | null = null
    do {
      const here: string | null = cursor
      const request = () => server.page(here)
      const start = performance.now()
      const body = await fetchBody(pool, request())
      const ms = performance.now() - start
      const json: unknown = JSON.parse(body.toString())
      yield { request, body, json, ms }
      cursor = server.next(json)
    } while (cursor !== null)
  } finally {
    await pool.close()
  }
}

/** Returns the first and a deep page of a server. Throws when their rows are not those that SQL gives. */
async function pagesOf(
  server: Server,
  client: ClientBase,
  { brandId, depth }: { brandId: string; depth: number },
): Promise<{ first: Page; deep: Page }> {
  let rows = 0
  let first: Page | undefined
  for await (const page of walk(server)) {
    const found = server.rows(page.json)
    if (rows === 0 || rows === depth) {
      const { rows: expected } = await client.query(
        `select date::text, url from daily.citation_share where brand_id = $1
         order by citation_share.date, url_hash offset $2 limit 1000`,
        [brandId, rows],
      )
      const given = found.map(({ date, url }) => ({ date, url }))
      if (!isDeepStrictEqual(given, expected)) throw new Error(`${server.url} returned wrong rows`)
      first ??= page
    }
    if (rows === depth && first !== undefined) return { first, deep: page }
    rows += found.length
  }
  throw new Error(`${server.url} has no page ${depth} rows deep`)
}
