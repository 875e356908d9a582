import { pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { answers } from './answers.ts'

export const answerMentions = pgTable(
  'answer_mentions',
  {
    answer_id: uuid()
      .notNull()
      .references(() => answers.id, { onDelete: 'cascade' }),
    name: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.answer_id, table.name] })],
)
