import { pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant } from './columns.ts'

export const users = pgTable('users', {
  id: id(),
  email: text().notNull().unique(),
  created_at: instant().notNull().defaultNow(),
})
