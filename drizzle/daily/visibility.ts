import { primaryKey } from 'drizzle-orm/pg-core'
import { visibilityColumns } from '../views/visibility.ts'
import { daily } from './schema.ts'

/** The stored form of `metrics.visibility`, keyed in the order in which pages are served. */
export const dailyVisibility = daily.table('visibility', visibilityColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.model_id, table.market_id] }),
])
