import { sql } from 'drizzle-orm'
import { boolean, index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { brands } from './brands.ts'

export const prompts = pgTable(
  'prompts',
  {
    id: uuid().primaryKey().default(sql`gen_random_uuid()`),
    brand_id: uuid()
      .notNull()
      .references(() => brands.id, { onDelete: 'cascade' }),
    text: text().notNull(),
    branded: boolean().notNull().default(false),
    counts_in_metrics: boolean().notNull().default(true),
    retired_at: timestamp({ withTimezone: true }),
  },
  (table) => [index().on(table.brand_id)],
)
