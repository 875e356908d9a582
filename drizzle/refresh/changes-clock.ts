import { sql } from 'drizzle-orm'
import { boolean, check, timestamp } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/**
 * The greatest `changed_at` of daily.changes, in at most one row. A transaction that advances it locks the row until it
 * commits, so `changed_at` follows the order of the commits, whatever the system's clock does.
 */
export const changesClock = daily.table(
  'changes_clock',
  {
    single: boolean().primaryKey().default(true),
    last: timestamp({ withTimezone: true }).notNull(),
  },
  (table) => [check('changes_clock_single', sql`${table.single}`)],
)
