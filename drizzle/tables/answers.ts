import { sql } from 'drizzle-orm'
import { check, index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { markets } from './markets.ts'
import { models } from './models.ts'
import { prompts } from './prompts.ts'
import { inCalendar } from './years.ts'

export const answers = pgTable(
  'answers',
  {
    id: uuid().primaryKey().default(sql`gen_random_uuid()`),
    prompt_id: uuid()
      .notNull()
      .references(() => prompts.id, { onDelete: 'cascade' }),
    model_id: text()
      .notNull()
      .references(() => models.id),
    market_id: uuid()
      .notNull()
      .references(() => markets.id),
    answered_at: timestamp({ withTimezone: true }).notNull(),
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
