import { date, integer, json, primaryKey, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'
import { textC } from '../text-c.ts'

/**
 * When the stored rows of a brand, endpoint and day last changed, what they add up to, and their digest. A day that has emptied keeps
 * its row, with 0. The refresh writes it in the transaction that changes the rows. Pages send the cells as they are
 * stored: converting timestamps and jsonb would double the cost of a page.
 */
export const dailyChanges = daily.table(
  'changes',
  {
    brand_id: uuid().notNull(),
    /** The name of the endpoint, as in its path. */
    endpoint: textC().notNull(),
    date: date().notNull(),
    rows: integer().notNull(),
    /** The sum of each field that adds up (daily.row_schemas). */
    totals: json().$type<Readonly<Record<string, number>>>().notNull(),
    /** 15 hex digits that prove the day's rows (docs/specification.md, Digest). */
    digest: textC().notNull(),
    /** In the form that pages have: with microseconds, and sorted as text it is in the order of time. */
    changed_at: textC().notNull(),
  },
  (table) => [
    // The brand comes last: a page, which orders by the other index, is never read by this one and sorted.
    primaryKey({ columns: [table.endpoint, table.date, table.brand_id] }),
    uniqueIndex('changes_order_index').on(table.brand_id, table.changed_at, table.endpoint, table.date),
  ],
)
