import { customType, date, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'

const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' })

/**
 * Answers that the transaction `transaction_id` deleted ahead of their citations, and the days of these that it has noted. The
 * deletion of the citations, which follows, takes the rows away.
 */
export const deletedAnswers = daily.table(
  'deleted_answers',
  {
    answer_id: uuid().notNull(),
    date: date().notNull(),
    transaction_id: xid8().notNull(),
  },
  (table) => [primaryKey({ columns: [table.answer_id, table.date] })],
)
