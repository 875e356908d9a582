import { type Cell, run } from '../../lib/db.ts'

/** One way to make a page: what is asked of Postgres over the rows of {@link ROWS}, and what the Worker makes of it. */
export type Way = {
  readonly statement: string
  readonly write: (rows: readonly (readonly Cell[])[]) => string
}

/** The bindings of a Worker that is measured; `PAGE` is what the service answers. */
export type Bindings = {
  readonly DATABASE_URL: string
  readonly UPSTASH_REDIS_REST_URL: string
  readonly UPSTASH_REDIS_REST_TOKEN: string
  readonly PAGE: string
  readonly KEY: readonly string[]
}

/** 1000 rows in the order of their key, from the one that {@link Bindings} names, and the one that tells of another page. */
export const ROWS = `from daily.citation_share
  where (brand_id, date, url_hash) >= ($1::uuid, $2::date, $3::uuid) order by brand_id, date, url_hash limit 1001`

const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-cache' }

/** A page sent as the service sends its own. */
export const send = (page: string): Response => new Response(page, { headers: HEADERS })

/** A Worker that makes a page in one way, and does nothing else: no key, no budget, no cursor. */
export function way({ statement, write }: Way) {
  return {
    async fetch(_request: Request, env: Bindings): Promise<Response> {
      const rows = await run({ env, log: null }, { sql: statement, params: [...env.KEY] }, {})
      return send(`{"data":[${write(rows)}]}`)
    },
  }
}
