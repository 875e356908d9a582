import type pg from 'pg'
import type { Get } from '../../connectors/certify/test/reference-loader.ts'
import { fieldNames } from '../../lib/rows/schema.ts'
import { METRICS } from './compare-copy.ts'

/** Changes of a page: few, so that the changes of a few days have several pages. */
const PAGE_SIZE = 8

/** Reads by plain SQL what the Workers read of some brands: a request to them takes 50 times as long. */
export function storedGet(client: pg.Client, brandIds: readonly string[]): Get {
  const pages: Readonly<Record<string, Get>> = {
    brands: async () => ({ data: brandIds.map((id) => ({ id })), meta: {} }),
    changes: async (_, { fromDate, since, cursor }) => {
      const condition = cursor
        ? '(changed_at, brand_id, endpoint, date) > ($1, $2, $3, $4)'
        : 'changed_at > $1'
      const { rows: data } = await client.query(
        `select brand_id, endpoint, date::text, digest, changed_at from daily.changes
         where ${condition} order by changed_at, brand_id, endpoint, date limit ${PAGE_SIZE}`,
        cursor ? String(cursor).split(' ') : [since ?? ''],
      )
      const { changed_at, brand_id, endpoint, date } = data.at(-1) ?? {}
      const nextCursor = data.length === PAGE_SIZE ? `${changed_at} ${brand_id} ${endpoint} ${date}` : null
      return { data, pagination: { nextCursor }, meta: { fromDate } }
    },
  }
  const rowsOf: Get = async (path, { brandId, fromDate, toDate }) => {
    const { rows } = await client.query(
      `select to_jsonb(sent) as row
       from (select ${columnsOf.get(path)} from daily."${path.replaceAll('-', '_')}"
             where brand_id = $1 and date between $2 and $3) as sent`,
      [brandId, fromDate, toDate],
    )
    return { data: rows.map(({ row }) => row), meta: { fromDate } }
  }
  return (path, query) => (pages[path] ?? rowsOf)(path, query)
}

const columnsOf = new Map(
  METRICS.map(({ name, row }) => [name, fieldNames(row).map((field) => `"${field}"`)]),
)
