import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import pg from 'pg'
import { listening, serverOptions } from './child.ts'

// A server as one would write it by hand: a prepared statement, a keyset, an envelope. It checks no key, plan or budget.
const PAGE_SIZE = 1000
const FIRST_HASH = '00000000-0000-0000-0000-000000000000'

pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text)
const pool = new pg.Pool({ connectionString: serverOptions().databaseUrl, max: 20 })
const app = new Hono()

app.get('/citation-share', async (context) => {
  const { brandId = '', fromDate = '', toDate = '', cursor } = context.req.query()
  const [date, urlHash]: string[] = cursor
    ? JSON.parse(Buffer.from(cursor, 'base64url').toString())
    : [fromDate, FIRST_HASH]
  const { rows } = await pool.query({
    name: 'page',
    text: `select date, url, domain, is_owned, citations, owned_citations, url_hash from daily.citation_share
      where brand_id = $1 and (date, url_hash) > ($2::date, $3::uuid) and date <= $4
      order by brand_id, date, url_hash limit ${PAGE_SIZE + 1}`,
    values: [brandId, date, urlHash, toDate],
  })
  const hasMore = rows.length > PAGE_SIZE
  const page = rows.slice(0, PAGE_SIZE)
  const last = page.at(-1)
  const nextCursor = hasMore
    ? Buffer.from(JSON.stringify([last.date, last.url_hash])).toString('base64url')
    : null
  const data = page.map(({ url_hash, ...row }) => row)
  return context.json({
    data,
    pagination: { pageSize: PAGE_SIZE, hasMore, nextCursor },
    meta: { brandId, fromDate, toDate },
  })
})

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  listening(`http://127.0.0.1:${port}`)
})
