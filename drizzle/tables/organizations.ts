import { pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant } from './columns.ts'

export const organizations = pgTable('organizations', {
  id: id(),
  name: text().notNull(),
  created_at: instant().notNull().defaultNow(),
})
