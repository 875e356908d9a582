import { sql } from 'drizzle-orm'
import { bigint, boolean, check, date, integer, timestamp } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'

/**
 * At most one row. With a row, each refresh computes the last `days` days again, today included, and all later ones.
 * Without one, triggers track every change.
 */
export const rollingWindow = daily.table(
  'rolling_window',
  {
    single: boolean().primaryKey().default(true),
    days: integer().notNull(),
    /** The last day that no refresh computes again; `-infinity` before the first refresh. */
    watermark: date().notNull().default('-infinity'),
    /** When the days were last enqueued. */
    enqueued_at: timestamp({ withTimezone: true }),
    /** Not used: the functions of 1.0.0 need it after a rollback. */
    last_entry: bigint({ mode: 'number' }),
  },
  (table) => [
    check('rolling_window_single', sql`${table.single}`),
    check('rolling_window_days', sql`${table.days} between 1 and 36500`),
  ],
)
