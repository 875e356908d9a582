import { primaryKey } from 'drizzle-orm/pg-core'
import { recommendedRateColumns } from '../views/recommended-rate.ts'
import { daily } from './schema.ts'

/** The stored form of `metrics.recommended_rate`, keyed in the order in which pages are served. */
export const dailyRecommendedRate = daily.table('recommended_rate', recommendedRateColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.is_competitor, table.entity_name] }),
])
