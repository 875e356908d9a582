import { sql } from 'drizzle-orm'
import { boolean, date, integer, numeric, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { daily, metrics, textC } from './schema.ts'

/** `is_competitor` is for the order alone: the brand's row comes before its competitors'. */
const recommendedRateColumns = () => ({
  brand_id: uuid().notNull(),
  date: date().notNull(),
  is_competitor: boolean().notNull(),
  entity_name: textC().notNull(),
  is_brand: boolean().notNull(),
  recommended_rate: numeric({ precision: 7, scale: 4 }).notNull(),
  judged_answers: integer().notNull(),
})

/** How often the brand and its active competitors were recommended, by day (docs/specification.md). */
export const recommendedRate = metrics.view('recommended_rate', recommendedRateColumns()).as(sql`
    select
      counted.brand_id,
      counted.date,
      judged.competitor_id is not null as is_competitor,
      coalesce(competitors.name, brands.name) collate "C" as entity_name,
      judged.competitor_id is null as is_brand,
      round(
        100.0 * count(distinct judged.answer_id) filter (where judged.recommended) / count(distinct judged.answer_id), 4
      ) as recommended_rate,
      count(distinct judged.answer_id)::int as judged_answers
    from export_source.recommendations as judged
    join metrics.counted_answers as counted on counted.answer_id = judged.answer_id
    join export_source.brands on brands.id = counted.brand_id
    left join export_source.competitors
      on competitors.id = judged.competitor_id
      and competitors.brand_id = counted.brand_id
      and competitors.active
    where counted.date >= date '2026-09-22'
      and (judged.competitor_id is null or competitors.id is not null)
    group by counted.brand_id, counted.date, judged.competitor_id, competitors.name, brands.name
  `)

/** The stored form of `metrics.recommended_rate`, keyed in the order in which pages are served. */
export const dailyRecommendedRate = daily.table('recommended_rate', recommendedRateColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.is_competitor, table.entity_name] }),
])
