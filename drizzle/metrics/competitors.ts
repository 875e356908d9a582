import { sql } from 'drizzle-orm'
import { date, integer, numeric, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { mentionedNames } from './names.ts'
import { daily, metrics, textC } from './schema.ts'

const competitorsColumns = () => ({
  brand_id: uuid().notNull(),
  date: date().notNull(),
  competitor_name: textC().notNull(),
  total_responses: integer().notNull(),
  competitor_visible_responses: integer().notNull(),
  competitor_visibility_rate: numeric({ precision: 7, scale: 4 }).notNull(),
})

/** The brand's visibility measure for each active competitor, over the same answers (docs/specification.md). */
export const competitors = metrics.view('competitors', competitorsColumns()).as(sql`
    select
      counted.brand_id,
      counted.date,
      competitor.name collate "C" as competitor_name,
      count(*)::int as total_responses,
      count(*) filter (where mentioned.names && competitor.names)::int as competitor_visible_responses,
      round(100.0 * count(*) filter (where mentioned.names && competitor.names) / count(*), 4)
        as competitor_visibility_rate
    from metrics.counted_answers as counted
    join metrics.competitor_names as competitor on competitor.brand_id = counted.brand_id
    ${mentionedNames}
    group by counted.brand_id, counted.date, competitor.competitor_id, competitor.name
  `)

/** The stored form of `metrics.competitors`, keyed in the order in which pages are served. */
export const dailyCompetitors = daily.table('competitors', competitorsColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.competitor_name] }),
])
