import { primaryKey, text } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'

/** Which raw tables a metric is made from, and whether its day is the answer's or the citation's recording's. */
export const sources = daily.table(
  'sources',
  {
    source: text().notNull(),
    metric: text().notNull(),
    dated_by: text({ enum: ['answered_at', 'recorded_at'] }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.source, table.metric] })],
)
