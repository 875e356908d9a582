import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { answers } from './answers.ts'
import { partOf } from './columns.ts'

export const answerMentions = pgTable(
  'answer_mentions',
  { answer_id: partOf(() => answers.id), name: text().notNull() },
  (table) => [primaryKey({ columns: [table.answer_id, table.name] })],
)
