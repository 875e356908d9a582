import { text, timestamp } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/**
 * The files of `drizzle/migrations` and `drizzle/sql` that this database has, as `drizzle/db/migrate.ts` applied
 * them.
 */
export const appliedSql = daily.table('applied_sql', {
  name: text().primaryKey(),
  sha256: text().notNull(),
  /** The schema of the application's tables. */
  schema: text().notNull(),
  applied_at: timestamp({ withTimezone: true }).notNull().defaultNow(),
})
