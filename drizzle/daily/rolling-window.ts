import { sql } from 'drizzle-orm'
import { bigint, boolean, check, date, integer, timestamp } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'

/**
 * Where nothing notes the changes of raw rows: at most one row, which says that each refresh computes the last `days`
 * days anew, today included, and all that are dated later. No row: the triggers note every change.
 */
export const rollingWindow = daily.table(
  'rolling_window',
  {
    single: boolean().primaryKey().default(true),
    days: integer().notNull(),
    /** The last day that no refresh computes anew by itself; `-infinity` before the first one. */
    watermark: date().notNull().default('-infinity'),
    /** When the days were noted last, and the last note of then. */
    enqueued_at: timestamp({ withTimezone: true }),
    last_entry: bigint({ mode: 'number' }),
  },
  (table) => [
    check('rolling_window_single', sql`${table.single}`),
    check('rolling_window_days', sql`${table.days} between 1 and 36500`),
  ],
)
