import { sql } from 'drizzle-orm'
import { check, integer, primaryKey } from 'drizzle-orm/pg-core'
import { citationsColumns } from './citations.ts'
import { daily, metrics, urlHash } from './schema.ts'

const citationShareColumns = () => ({ ...citationsColumns(), owned_citations: integer().notNull() })

/** Cited URLs by the day of the answer, with ownership counted per answer (docs/specification.md). */
export const citationShare = metrics.view('citation_share', citationShareColumns()).as(sql`
    select
      counted.brand_id,
      counted.date,
      ${urlHash(sql`cited.url`)} as url_hash,
      cited.url collate "C" as url,
      max(cited.domain collate "C") as domain,
      coalesce(bool_or(cited.owned), false) as is_owned,
      count(distinct cited.answer_id)::int as citations,
      count(distinct cited.answer_id) filter (where cited.owned)::int as owned_citations
    from export_source.citations as cited
    join metrics.counted_answers as counted on counted.answer_id = cited.answer_id
    group by counted.brand_id, counted.date, cited.url
  `)

/** The stored form of `metrics.citation_share`, keyed in the order in which pages are served. */
export const dailyCitationShare = daily.table('citation_share', citationShareColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.url_hash] }),
  check('citation_share_has_urls_of_at_most_8192_bytes', sql`octet_length(${table.url}) <= 8192`),
])
