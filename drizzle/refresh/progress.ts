import { sql } from 'drizzle-orm'
import { bigint, boolean, check, timestamp } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/** The last run of `daily.resolve`, in one row. */
export const progress = daily.table(
  'progress',
  {
    single: boolean().primaryKey().default(true),
    /** All changes that were committed before are in the stored rows or in the queue. */
    as_of: timestamp({ withTimezone: true }).notNull().default(sql`'-infinity'`),
    /** Counts the batches that were taken from the log. */
    batch: bigint({ mode: 'number' }).notNull().default(0),
  },
  (table) => [check('progress_single', sql`${table.single}`)],
)
