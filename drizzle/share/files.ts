import { sql } from 'drizzle-orm'
import { date, index, integer, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'
import { textC } from '../text-c.ts'

/**
 * The Parquet objects of the share (docs/share.md). A set of files holds the rows of a brand and table: of a day, of a
 * calendar month, or the brand itself. A row is inserted before its object is written and deleted after it, so the bucket
 * never holds an object that is not listed here.
 */
export const files = daily.table(
  'files',
  {
    /** The object's name is `<id>.parquet`. */
    id: uuid().primaryKey(),
    set_id: uuid().notNull(),
    metric: textC().notNull(),
    brand_id: uuid().notNull(),
    /** The first and last day of the set; null for brands. */
    first: date(),
    last: date(),
    /** 0 for a day that has emptied, which has no object. */
    rows: integer().notNull().default(0),
    bytes: integer().notNull().default(0),
    /**
     * The latest `changed_at` of the days when their rows were read; for a brand the time of reading. Null until every
     * object of the set is written, empty when an object is lost.
     */
    stamp: textC(),
    /** MD5 of a brand's row; null for a brand that is gone. */
    digest: text(),
    staged_at: timestamp({ withTimezone: true }).notNull().defaultNow(),
    /** The first version that names the file; null while it is staged. */
    added: integer(),
    /** The first version that no longer names it. */
    removed: integer(),
  },
  (table) => [
    index('files_order_index').on(table.metric, table.brand_id, table.first, table.last),
    index('files_current_index')
      .on(table.metric, table.brand_id, table.first, table.last)
      .where(sql`removed is null`),
    index('files_set_index').on(table.set_id),
    index('files_staged_index').on(table.metric, table.brand_id).where(sql`added is null`),
    index('files_removed_index').on(table.removed).where(sql`removed is not null`),
  ],
)
