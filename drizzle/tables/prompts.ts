import { boolean, index, pgTable, text } from 'drizzle-orm/pg-core'
import { brands } from './brands.ts'
import { id, instant, partOf } from './columns.ts'

export const prompts = pgTable(
  'prompts',
  {
    id: id(),
    brand_id: partOf(() => brands.id),
    text: text().notNull(),
    branded: boolean().notNull().default(false),
    counts_in_metrics: boolean().notNull().default(true),
    retired_at: instant(),
  },
  (table) => [index().on(table.brand_id)],
)
