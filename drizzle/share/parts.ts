import { integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'
import { stagedObjects } from './objects.ts'

/** Rows of a staged object that did not fit into one answer of the database, until the publisher has read them. */
export const parts = daily.table(
  'parts',
  {
    object_id: uuid()
      .notNull()
      .references(() => stagedObjects.id, { onDelete: 'cascade' }),
    part: integer().notNull(),
    /** A JSON array of the rows. */
    rows: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.object_id, table.part] })],
)
