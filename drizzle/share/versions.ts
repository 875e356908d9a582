import { sql } from 'drizzle-orm'
import { boolean, integer, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'
import { textC } from '../text-c.ts'

/** The versions of the share, one counter for all tables. A version names the objects that hold each brand's rows. */
export const versions = daily.table('versions', {
  version: integer().primaryKey(),
  committed_at: timestamp({ withTimezone: true }).notNull(),
})

/** The last change of each brand in the current version. */
export const publishedBrands = daily.table('published_brands', {
  brand_id: uuid().primaryKey(),
  /** The greatest `changed_at` of the brand's days that were read; empty when it had none. */
  since: textC().notNull(),
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
