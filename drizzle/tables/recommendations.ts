import { boolean, index, pgTable, unique, uuid } from 'drizzle-orm/pg-core'
import { answers } from './answers.ts'
import { competitors } from './competitors.ts'

export const recommendations = pgTable(
  'recommendations',
  {
    answer_id: uuid()
      .notNull()
      .references(() => answers.id, { onDelete: 'cascade' }),
    /** The competitor that was judged; null for the brand itself. */
    competitor_id: uuid().references(() => competitors.id, { onDelete: 'cascade' }),
    recommended: boolean().notNull(),
  },
  (table) => [
    unique().on(table.answer_id, table.competitor_id).nullsNotDistinct(),
    index().on(table.competitor_id),
  ],
)
