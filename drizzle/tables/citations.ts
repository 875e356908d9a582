import { sql } from 'drizzle-orm'
import { boolean, check, index, pgTable, text } from 'drizzle-orm/pg-core'
import { answers } from './answers.ts'
import { id, inCalendar, instant, partOf } from './columns.ts'

export const citations = pgTable(
  'citations',
  {
    id: id(),
    answer_id: partOf(() => answers.id),
    url: text().notNull(),
    domain: text(),
    owned: boolean().notNull(),
    recorded_at: instant().notNull(),
  },
  // By answer for Citation Share, by the UTC day of the recording for the citations endpoint.
  (table) => [
    index().on(table.answer_id),
    index('citations_day_index').on(sql`((${table.recorded_at} at time zone 'UTC')::date)`, table.answer_id),
    check('citations_recorded_at', inCalendar(table.recorded_at)),
  ],
)
