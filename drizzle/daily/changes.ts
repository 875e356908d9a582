import { date, integer, jsonb, primaryKey, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { textC } from '../text-c.ts'
import { daily } from './schema.ts'

/**
 * When the stored rows of a brand, endpoint and day last changed, and what they add up to. A day that has emptied keeps
 * its row, with 0. The refresh writes it in the statement that changes the rows.
 */
export const changes = daily.table(
  'changes',
  {
    brand_id: uuid().notNull(),
    /** The name of the endpoint, as in its path. */
    endpoint: textC().notNull(),
    date: date().notNull(),
    rows: integer().notNull(),
    /** The sum of each field that adds up (daily.row_schemas). */
    totals: jsonb().$type<Readonly<Record<string, number>>>().notNull(),
    changed_at: timestamp({ withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.brand_id, table.endpoint, table.date] }),
    uniqueIndex('changes_listing_index').on(table.brand_id, table.changed_at, table.endpoint, table.date),
  ],
)
