import { text } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'

/**
 * The fields of each metric's rows, and those of them that add up, as `functions/` declares them. When a migration finds
 * others, it lists every day of the metric as changed.
 */
export const rowSchemas = daily.table('row_schemas', {
  metric: text().primaryKey(),
  fields: text().array().notNull(),
  totals: text().array().notNull(),
})
