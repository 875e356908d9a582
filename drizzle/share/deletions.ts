import { sql } from 'drizzle-orm'
import { index, timestamp, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/** Objects to delete. None of them is in a version, or ever will be. */
export const deletions = daily.table(
  'deletions',
  {
    id: uuid().primaryKey(),
    /** By then no URL of the object works (URL_SECONDS), and a publisher that was killed has written what it still could. */
    not_before: timestamp({ withTimezone: true }).notNull().default(sql`now() + interval '2 days'`),
  },
  (table) => [index('deletions_order_index').on(table.not_before)],
)
