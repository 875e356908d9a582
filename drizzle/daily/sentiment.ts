import { primaryKey } from 'drizzle-orm/pg-core'
import { sentimentColumns } from '../views/sentiment.ts'
import { daily } from './schema.ts'

/** The stored form of `metrics.sentiment`, keyed in the order in which pages are served. */
export const dailySentiment = daily.table('sentiment', sentimentColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date] }),
])
