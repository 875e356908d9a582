import { sql } from 'drizzle-orm'
import { boolean, check, index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { answers } from './answers.ts'
import { inCalendar } from './years.ts'

export const citations = pgTable(
  'citations',
  {
    id: uuid().primaryKey().default(sql`gen_random_uuid()`),
    answer_id: uuid()
      .notNull()
      .references(() => answers.id, { onDelete: 'cascade' }),
    url: text().notNull(),
    domain: text(),
    owned: boolean().notNull(),
    recorded_at: timestamp({ withTimezone: true }).notNull(),
  },
  // By answer for Citation Share, by the UTC day of the recording for the citations endpoint.
  (table) => [
    index().on(table.answer_id),
    index('citations_day_index').on(sql`((${table.recorded_at} at time zone 'UTC')::date)`, table.answer_id),
    check('citations_recorded_at', inCalendar(table.recorded_at)),
  ],
)
