import { sql } from 'drizzle-orm'
import { boolean, check, date, integer, timestamp } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/**
 * At most one row. With a row, each pass recomputes the last `days` days, today included, and all later ones. Without
 * one, triggers track every change.
 */
export const rollingWindow = daily.table(
  'rolling_window',
  {
    single: boolean().primaryKey().default(true),
    days: integer().notNull(),
    /** The first day of the last pass; `-infinity` before the first pass, which recomputes every day. */
    first_day: date().notNull().default('-infinity'),
    /** When the last pass started. */
    started_at: timestamp({ withTimezone: true }).notNull().default(sql`'-infinity'`),
  },
  (table) => [
    check('rolling_window_single', sql`${table.single}`),
    check('rolling_window_days', sql`${table.days} between 1 and 36500`),
  ],
)
