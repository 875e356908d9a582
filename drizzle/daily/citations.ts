import { primaryKey } from 'drizzle-orm/pg-core'
import { citationsColumns } from '../views/citations.ts'
import { daily } from './schema.ts'

/** The stored form of `metrics.citations`, keyed in the order in which pages are served. */
export const dailyCitations = daily.table('citations', citationsColumns(), (table) => [
  primaryKey({ columns: [table.brand_id, table.date, table.url_hash] }),
])
