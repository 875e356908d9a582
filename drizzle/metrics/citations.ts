import { type SQL, sql } from 'drizzle-orm'
import { boolean, check, date, integer, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { daily, metrics, textC, urlHash } from './schema.ts'

export const citationsColumns = () => ({
  brand_id: uuid().notNull(),
  date: date().notNull(),
  url_hash: uuid().notNull(),
  url: textC().notNull(),
  domain: textC(),
  is_owned: boolean().notNull(),
  citations: integer().notNull(),
})

const definition = (brand: SQL, date: SQL, answers: SQL) => sql`
    select
      ${brand} as brand_id,
      ${date} as date,
      ${urlHash(sql`cited.url`)} as url_hash,
      cited.url collate "C" as url,
      max(cited.domain collate "C") as domain,
      coalesce(bool_or(cited.owned), false) as is_owned,
      count(distinct cited.answer_id)::int as citations
    from ${answers}
    group by ${brand}, ${date}, cited.url
  `

const recordedOn = sql`(cited.recorded_at at time zone 'UTC')::date`

/** Cited URLs by the day on which the citation was recorded (docs/specification.md). */
export const citations = metrics.view('citations', citationsColumns()).as(
  definition(
    sql`counted.brand_id`,
    recordedOn,
    sql`export_source.citations as cited
    join metrics.counted_answers as counted on counted.answer_id = cited.answer_id`,
  ),
)

/**
 * The same, read through `daily.citation_days`. A day then costs as much as its answers, and not as much as the brand's
 * history. The refresh computes days with it.
 */
export const citationsBounded = metrics.view('citations_bounded', citationsColumns()).as(
  definition(
    sql`days.brand_id`,
    sql`days.recorded`,
    sql`daily.citation_days as days
    join metrics.counted_answers as counted on counted.brand_id = days.brand_id and counted.date = days.answered
    join export_source.citations as cited on cited.answer_id = counted.answer_id and ${recordedOn} = days.recorded`,
  ),
)

/** The stored form of `metrics.citations`, keyed in the order in which pages are served. */
export const dailyCitations = daily.table('citations', citationsColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.url_hash] }),
  check('citations_has_urls_of_at_most_8192_bytes', sql`octet_length(${table.url}) <= 8192`),
])
