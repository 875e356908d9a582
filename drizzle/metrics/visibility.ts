import { sql } from 'drizzle-orm'
import { date, integer, numeric, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { mentionedNames } from './names.ts'
import { daily, metrics, textC } from './schema.ts'

const visibilityColumns = () => ({
  brand_id: uuid().notNull(),
  date: date().notNull(),
  model_id: textC().notNull(),
  provider: textC().notNull(),
  market_id: uuid().notNull(),
  market: textC().notNull(),
  total_prompts: integer().notNull(),
  visible_count: integer().notNull(),
  visibility_rate: numeric({ precision: 7, scale: 4 }).notNull(),
})

/**
 * A brand's mentions by day, model and market (docs/specification.md). An answer counts whatever becomes of its model and
 * market: ids that are null and names that are gone have values of their own.
 */
export const visibility = metrics.view('visibility', visibilityColumns()).as(sql`
    select
      counted.brand_id,
      counted.date,
      counted.model_id,
      coalesce((select provider from export_source.models where models.id = counted.model_id), '') collate "C" as provider,
      counted.market_id,
      coalesce((select name from export_source.markets where markets.id = counted.market_id), '') collate "C" as market,
      counted.total_prompts,
      counted.visible_count,
      round(100.0 * counted.visible_count / counted.total_prompts, 4) as visibility_rate
    from (
      select
        counted.brand_id,
        counted.date,
        coalesce(counted.model_id, '') collate "C" as model_id,
        coalesce(counted.market_id, '00000000-0000-0000-0000-000000000000') as market_id,
        count(*)::int as total_prompts,
        count(*) filter (where mentioned.names && brand.names)::int as visible_count
      from metrics.counted_answers as counted
      join metrics.brand_names as brand on brand.brand_id = counted.brand_id
      ${mentionedNames}
      group by 1, 2, 3, 4
    ) as counted
  `)

/** The stored form of `metrics.visibility`, keyed in the order in which pages are served. */
export const dailyVisibility = daily.table('visibility', visibilityColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.model_id, table.market_id] }),
])
