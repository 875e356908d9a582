import { sql } from 'drizzle-orm'
import { pgTable, text, uuid } from 'drizzle-orm/pg-core'

export const markets = pgTable('markets', {
  id: uuid().primaryKey().default(sql`gen_random_uuid()`),
  name: text().notNull(),
})
