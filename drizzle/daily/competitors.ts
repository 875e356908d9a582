import { primaryKey } from 'drizzle-orm/pg-core'
import { competitorsColumns } from '../views/competitors.ts'
import { daily } from './schema.ts'

/** The stored form of `metrics.competitors`, keyed in the order in which pages are served. */
export const dailyCompetitors = daily.table('competitors', competitorsColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.competitor_name] }),
])
