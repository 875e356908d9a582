import { integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'
import { stagedFiles } from './files.ts'

/** Rows of a staged file that did not fit into one answer of the database, until the publisher has read them. */
export const parts = daily.table(
  'parts',
  {
    file_id: uuid()
      .notNull()
      .references(() => stagedFiles.id, { onDelete: 'cascade' }),
    part: integer().notNull(),
    /** A JSON array of the rows. */
    rows: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.file_id, table.part] })],
)
