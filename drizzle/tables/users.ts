import { sql } from 'drizzle-orm'
import { pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'

export const users = pgTable('users', {
  id: uuid().primaryKey().default(sql`gen_random_uuid()`),
  email: text().notNull().unique(),
  created_at: timestamp({ withTimezone: true }).notNull().defaultNow(),
})
