import { bigint, boolean, date, integer, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/** The days that the refresh has to recompute. Only `daily.resolve` adds entries, and only `daily.refresh` removes them. */
export const refreshQueue = daily.table(
  'refresh_queue',
  {
    brand_id: uuid().notNull(),
    metric: text().notNull(),
    date: date().notNull(),
    /** All changes of this day that were committed before are in the stored rows: the start of an earlier resolve. */
    as_of: timestamp({ withTimezone: true }).notNull(),
    /** The last batch of the log that named this day (`daily.progress`). */
    batch: bigint({ mode: 'number' }).notNull(),
    /** How often the day could not be computed since it last changed. */
    attempts: integer().notNull().default(0),
    /** The earliest time of the next attempt; null means now. */
    retry_at: timestamp({ withTimezone: true }),
    last_error: text(),
    /** Whether the day gets a statement of its own, after the other days: a statement with it was canceled. */
    alone: boolean().notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.brand_id, table.metric, table.date] })],
)
