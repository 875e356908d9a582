import { sql } from 'drizzle-orm'
import { boolean, date, integer, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { textC } from '../text-c.ts'
import { daily, metrics } from './schema.ts'
import { urlHash } from './url-hash.ts'

const citationsColumns = () => ({
  brand_id: uuid().notNull(),
  date: date().notNull(),
  url_hash: uuid().notNull(),
  url: textC().notNull(),
  domain: textC(),
  is_owned: boolean().notNull(),
  citations: integer().notNull(),
})

/** Cited URLs by the day on which the citation was recorded (docs/specification.md). */
export const citations = metrics.view('citations', citationsColumns()).as(sql`
    select
      counted.brand_id,
      (cited.recorded_at at time zone 'UTC')::date as date,
      ${urlHash(sql`cited.url`)} as url_hash,
      cited.url collate "C" as url,
      max(cited.domain collate "C") as domain,
      bool_or(cited.owned) as is_owned,
      count(distinct cited.answer_id)::int as citations
    from export_source.citations as cited
    join metrics.counted_answers as counted on counted.answer_id = cited.answer_id
    group by counted.brand_id, (cited.recorded_at at time zone 'UTC')::date, cited.url
  `)

/** The stored form of `metrics.citations`, keyed in the order in which pages are served. */
export const dailyCitations = daily.table('citations', citationsColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.url_hash] }),
])
