import { integer, timestamp } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/** The versions of the share, one counter for all tables. A version names the objects that hold each brand's rows. */
export const versions = daily.table('versions', {
  version: integer().primaryKey(),
  committed_at: timestamp({ withTimezone: true }).notNull(),
})
