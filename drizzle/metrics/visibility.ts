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

/** A brand's mentions by day, model and market (docs/specification.md). */
export const visibility = metrics.view('visibility', visibilityColumns()).as(sql`
    select
      counted.brand_id,
      counted.date,
      counted.model_id collate "C" as model_id,
      models.provider collate "C" as provider,
      counted.market_id,
      markets.name collate "C" as market,
      count(*)::int as total_prompts,
      count(*) filter (where mentioned.names && brand.names)::int as visible_count,
      round(100.0 * count(*) filter (where mentioned.names && brand.names) / count(*), 4) as visibility_rate
    from metrics.counted_answers as counted
    join metrics.brand_names as brand on brand.brand_id = counted.brand_id
    join export_source.models on models.id = counted.model_id
    join export_source.markets on markets.id = counted.market_id
    ${mentionedNames}
    group by counted.brand_id, counted.date, counted.model_id, models.provider, counted.market_id, markets.name
  `)

/** The stored form of `metrics.visibility`, keyed in the order in which pages are served. */
export const dailyVisibility = daily.table('visibility', visibilityColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.model_id, table.market_id] }),
])
