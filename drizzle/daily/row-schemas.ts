import { text } from 'drizzle-orm/pg-core'
import { textC } from '../text-c.ts'
import { daily } from './schema.ts'

/**
 * The fields of each metric's rows, and those of them that add up, as `functions/` declares them. When `npm run migrate`
 * finds others, it lists every day of the metric as changed.
 */
export const rowSchemas = daily.table('row_schemas', {
  metric: text().primaryKey(),
  /** The metric's name in paths and in daily.changes. */
  endpoint: textC().notNull(),
  fields: text().array().notNull(),
  totals: text().array().notNull(),
})
