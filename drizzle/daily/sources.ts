import { primaryKey, text } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'

/**
 * The views of `export_source` that each metric reads. `dated_by` says whether the answer or the citation gives a row
 * its day.
 */
export const sources = daily.table(
  'sources',
  {
    source: text().notNull(),
    metric: text().notNull(),
    dated_by: text({ enum: ['answered_at', 'recorded_at'] }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.source, table.metric] })],
)
