import { boolean, text } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'
import { textC } from '../text-c.ts'

/**
 * The rows of each metric, as `functions/` declares them. When `npm run migrate` finds other fields or totals, it lists
 * every day of the metric as changed, after its transaction.
 */
export const rowSchemas = daily.table('row_schemas', {
  metric: text().primaryKey(),
  /** The metric's name in paths and in daily.changes. */
  endpoint: textC().notNull(),
  fields: text().array().notNull(),
  /** SQL of the JSON text with the sum of each field that adds up. */
  totals: text().notNull(),
  /** Whether every day has been listed since the schema changed. */
  listed: boolean().notNull().default(false),
})
