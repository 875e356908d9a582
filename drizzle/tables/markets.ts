import { pgTable, text } from 'drizzle-orm/pg-core'
import { id } from './columns.ts'

export const markets = pgTable('markets', { id: id(), name: text().notNull() })
