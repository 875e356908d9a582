import { pgTable, text } from 'drizzle-orm/pg-core'

export const models = pgTable('models', {
  id: text().primaryKey(),
  provider: text().notNull(),
})
