import { sql } from 'drizzle-orm'
import { boolean, integer, text, timestamp } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/** One row: the lease of the publisher, and the number of the latest version. */
export const publisher = daily.table('publisher', {
  single: boolean().primaryKey().default(true),
  /** Grows with each lease. A publisher sends the number of its lease with every statement. */
  lease: integer().notNull().default(0),
  held_until: timestamp({ withTimezone: true }).notNull().default(sql`'-infinity'`),
  holder: text().notNull().default(''),
  version: integer().notNull().default(0),
})
