import { date, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/**
 * The days of the answers whose citations were recorded on a day of a brand: where to look for them, since a citation can
 * be recorded long after its answer. `daily.resolve` adds days before the refresh computes them, and none is removed.
 */
export const citationDays = daily.table(
  'citation_days',
  {
    brand_id: uuid().notNull(),
    recorded: date().notNull(),
    answered: date().notNull(),
  },
  (table) => [primaryKey({ columns: [table.brand_id, table.recorded, table.answered] })],
)
