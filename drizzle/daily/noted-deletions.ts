import { customType, date, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'

const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' })

/**
 * Answers that the transaction `noted_by` deleted ahead of their citations, and the days of these that it has noted. The
 * deletion of the citations, which follows, takes the rows away.
 */
export const notedDeletions = daily.table(
  'noted_deletions',
  {
    answer_id: uuid().notNull(),
    date: date().notNull(),
    noted_by: xid8().notNull(),
  },
  (table) => [primaryKey({ columns: [table.answer_id, table.date] })],
)
