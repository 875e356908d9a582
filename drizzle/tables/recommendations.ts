import { boolean, index, pgTable, unique, uuid } from 'drizzle-orm/pg-core'
import { answers } from './answers.ts'
import { partOf } from './columns.ts'
import { competitors } from './competitors.ts'

export const recommendations = pgTable(
  'recommendations',
  {
    answer_id: partOf(() => answers.id),
    /** The competitor that was judged; null for the brand itself. */
    competitor_id: uuid().references(() => competitors.id, { onDelete: 'cascade' }),
    recommended: boolean().notNull(),
  },
  (table) => [
    unique().on(table.answer_id, table.competitor_id).nullsNotDistinct(),
    index().on(table.competitor_id),
  ],
)
