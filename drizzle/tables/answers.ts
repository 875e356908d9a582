import { sql } from 'drizzle-orm'
import { check, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { id, inCalendar, instant, partOf } from './columns.ts'
import { markets } from './markets.ts'
import { models } from './models.ts'
import { prompts } from './prompts.ts'

export const answers = pgTable(
  'answers',
  {
    id: id(),
    prompt_id: partOf(() => prompts.id),
    model_id: text()
      .notNull()
      .references(() => models.id),
    market_id: uuid()
      .notNull()
      .references(() => markets.id),
    answered_at: instant().notNull(),
    error: text(),
  },
  // The index: one UTC day of one prompt: what the views read to compute one day of one brand.
  (table) => [
    index('answers_prompt_id_day_index').on(
      table.prompt_id,
      sql`((${table.answered_at} at time zone 'UTC')::date)`,
    ),
    check('answers_answered_at', inCalendar(table.answered_at)),
  ],
)
