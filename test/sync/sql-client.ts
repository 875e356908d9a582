import type pg from 'pg'
import { fieldNames } from '../../lib/rows/schema.ts'
import type { Row } from '../fixtures/call.ts'
import { METRICS } from './compare-copy.ts'
import type { Get, Query } from './copy.ts'

/** Changes of a page: few, so that the changes of a few days have several pages. */
const PAGE_SIZE = 8

/** Reads by plain SQL what the Workers read: a request to them takes 50 times as long. */
export const storedGet =
  (client: pg.Pool | pg.ClientBase): Get =>
  async (path, query) => {
    const data = path === '/changes' ? await changesOf(client, query) : await rowsOf(client, path, query)
    const last = data.length === PAGE_SIZE && path === '/changes' ? data.at(-1) : undefined
    const nextCursor = last ? `${last.changed_at} ${last.endpoint} ${last.date}` : null
    return {
      data,
      pagination: { pageSize: PAGE_SIZE, hasMore: nextCursor !== null, nextCursor },
      meta: { fromDate: `${query.fromDate}T00:00:00.000Z` },
    }
  }

async function changesOf(
  client: pg.Pool | pg.ClientBase,
  { brandId, since = '', cursor }: Query,
): Promise<Row[]> {
  const condition = cursor ? '(changed_at, endpoint, date) > ($2, $3, $4)' : 'changed_at > $2'
  const { rows } = await client.query<Row>(
    `select endpoint, date::text, rows, totals, digest, changed_at from daily.changes
     where brand_id = $1 and ${condition} order by changed_at, endpoint, date limit ${PAGE_SIZE}`,
    [brandId, ...(cursor?.split(' ') ?? [since])],
  )
  return rows
}

const columnsOf = new Map(METRICS.map(({ path, row }) => [path, fieldNames(row).map((name) => `"${name}"`)]))

async function rowsOf(
  client: pg.Pool | pg.ClientBase,
  path: string,
  { brandId, fromDate, toDate }: Query,
): Promise<Row[]> {
  const { rows } = await client.query<{ row: Row }>(
    `select to_jsonb(sent) as row
     from (select ${columnsOf.get(path)} from daily."${path.slice(1).replaceAll('-', '_')}"
           where brand_id = $1 and date between $2 and $3) as sent`,
    [brandId, fromDate, toDate],
  )
  return rows.map(({ row }) => row)
}
