import { sql } from 'drizzle-orm'
import { check, pgTable, text } from 'drizzle-orm/pg-core'

export const models = pgTable(
  'models',
  { id: text().primaryKey(), provider: text().notNull() },
  // As of brands.
  (table) => [check('models_id', sql`octet_length(${table.id}) <= 2000`)],
)
