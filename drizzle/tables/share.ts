import { sql } from 'drizzle-orm'
import { boolean, date, index, integer, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { daily, textC } from '../metrics/schema.ts'

/** The versions of the share, one counter for all tables. A version names the objects that hold each brand's rows. */
export const versions = daily.table('versions', {
  version: integer().primaryKey(),
  committed_at: timestamp({ withTimezone: true }).notNull(),
})

/** The last change of each brand in the current version. */
export const publishedBrands = daily.table('published_brands', {
  brand_id: uuid().primaryKey(),
  /** The greatest `changed_at` of the brand's days that were read; null when it had none. */
  since: textC(),
  /** When its thirds and months are compared with its days again. */
  periods_due_at: timestamp({ withTimezone: true }).notNull().defaultNow(),
})

/** One row: the lease of the publisher, and the number of the latest version. */
export const publisher = daily.table('publisher', {
  single: boolean().primaryKey().default(true),
  /** Grows with each lease. A publisher sends the number of its lease with every statement. */
  lease: integer().notNull().default(0),
  held_until: timestamp({ withTimezone: true }).notNull().default(sql`'-infinity'`),
  holder: text().notNull().default(''),
  version: integer().notNull().default(0),
})

/** The objects of the share and their states (docs/architecture.md, The share). In the bucket, one is `<id>.parquet`. */
export const objects = daily.table(
  'objects',
  {
    id: uuid().primaryKey(),
    metric: textC().notNull(),
    brand_id: uuid().notNull(),
    /** `brand` for the brand's own row; else the rows of a `day`, of a `third` of a month, or of a `month`. */
    period: text().notNull(),
    /** The first and last day of the set; `-infinity` for `brand`. */
    first: date().notNull(),
    last: date().notNull(),
    /**
     * The digests of the days' rows, combined by XOR (docs/specification.md, Digest); for `brand` the MD5 of the row. Null when
     * the table's columns have changed since, which digests do not tell.
     */
    digest: text(),
    /** Null until the object is written. 0 for a day that has emptied and a brand that is gone, which have no object. */
    rows: integer(),
    bytes: integer(),
    /** The first version that names the object. */
    added: integer(),
    /** The first version that no longer names it; null while the latest does. */
    removed: integer(),
    /**
     * Since when no version names it, or ever will. It is deleted two days later: by then no URL of it works (URL_SECONDS), and a
     * publisher that was killed has written what it still could.
     */
    dropped_at: timestamp({ withTimezone: true }),
  },
  (table) => [
    index('objects_staged_index').on(table.brand_id).where(sql`added is null and dropped_at is null`),
    index('objects_current_index')
      .on(table.metric, table.brand_id, table.first)
      .where(sql`added is not null and removed is null`),
    index('objects_former_index')
      .on(table.metric, table.brand_id, table.removed, table.added)
      .where(sql`removed is not null`),
    index('objects_added_index').on(table.metric, table.brand_id, table.added),
    index('objects_removed_index').on(table.removed).where(sql`removed is not null`),
    index('objects_dropped_index').on(table.dropped_at).where(sql`dropped_at is not null`),
  ],
)
