import { fillPlaceholders, type Query } from 'drizzle-orm'
import { type PgTable, pgSchema } from 'drizzle-orm/pg-core'
import type { ClientBase } from 'pg'
import { citationShareColumns } from '../../drizzle/views/citation-share.ts'
import { PAGE_SIZE, pageQueries, readPage } from '../../lib/page.ts'
import { PAID_PLANS } from '../../lib/plans.ts'
import { LAST_DAY } from './volume.ts'

/** Whose pages, from which day on, and out of which schema's `citation_share`. */
export type Pages = {
  readonly client: ClientBase
  readonly keyHash: string
  readonly schema: string
  readonly first: string
}

/** The key of a row of citation share: its day and its URL's. */
export type Position = readonly [date: string, urlHash: string]

/** Reads pages of citation share by the endpoint's own statement, planned for each request as Neon's HTTP does. */
export function pages({ client, keyHash, schema, first }: Pages) {
  const table: PgTable = pgSchema(schema).table('citation_share', citationShareColumns())
  const queries = pageQueries({ table, key: ['date', 'url_hash'] })
  const windows = JSON.stringify(
    Object.fromEntries(PAID_PLANS.map((plan) => [plan, { first, last: LAST_DAY }])),
  )

  const read = async (
    query: Query,
    brandId: string,
    after: Readonly<Record<string, string>>,
  ): Promise<void> => {
    const now = `${LAST_DAY}T23:00:00.000Z`
    const values = { key_hash: keyHash, now, today: LAST_DAY, brand_id: brandId, windows, ...after }
    const { rows } = await client.query({
      text: query.sql,
      values: fillPlaceholders(query.params, values),
      rowMode: 'array',
      types: { getTypeParser: () => (text: string) => text },
    })
    const { page } = readPage(rows, null)
    if (page.next === null) throw new Error(`A page of ${page.rows} rows is not a full one`)
  }

  return {
    first: (brandId: string) => read(queries.first, brandId, {}),
    after: (brandId: string, [after_0, after_1]: Position) =>
      read(queries.next, brandId, { after_0, after_1 }),
    /** Where a page begins that is full: the last one, or one that has some rows behind it. */
    position: async (brandId: string, behind = 0): Promise<Position> => {
      const { rows } = await client.query<{ date: string; url_hash: string }>(
        `select date::text, url_hash from ${schema}.citation_share where brand_id = $1
         order by date desc, url_hash desc offset ${PAGE_SIZE + 1} + $2::int limit 1`,
        [brandId, behind],
      )
      const [row] = rows
      if (row === undefined) throw new Error('There is no full page')
      return [row.date, row.url_hash]
    },
  }
}
