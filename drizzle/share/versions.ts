import { integer, timestamp } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'
import { textC } from '../text-c.ts'

/** The versions of the share, one counter for all tables. A version names the files that equal the tables at one moment. */
export const versions = daily.table('versions', {
  version: integer().primaryKey(),
  committed_at: timestamp({ withTimezone: true }).notNull(),
  /** The greatest `changed_at` of daily.changes at that moment; empty to compare every day again. */
  through: textC().notNull(),
})
