import { date, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'
import { xid8 } from './xid8.ts'

/**
 * Answers that the transaction `transaction_id` deleted before their citations, and the days of those citations,
 * which are in the queue. The trigger of the citations, which are deleted next, removes the rows.
 */
export const deletedAnswers = daily.table(
  'deleted_answers',
  { answer_id: uuid().notNull(), date: date().notNull(), transaction_id: xid8().notNull() },
  (table) => [primaryKey({ columns: [table.answer_id, table.date] })],
)
