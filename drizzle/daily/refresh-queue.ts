import { sql } from 'drizzle-orm'
import { bigint, date, index, text, uuid } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'

/**
 * Notes of what must be computed anew, one row a change: appended by the triggers, so that writers never wait
 * for each other or for a refresh. A null widens a note: no date is every date, no brand is every brand;
 * `prompt_id`, `model_id` or `market_id` narrow one without a date to the days that hold answers of theirs.
 */
export const refreshQueue = daily.table(
  'refresh_queue',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    metric: text().notNull(),
    brand_id: uuid(),
    date: date(),
    prompt_id: uuid(),
    model_id: text(),
    market_id: uuid(),
  },
  (table) => [
    index('refresh_queue_refresh_index').on(table.date, table.metric, table.brand_id),
    index('refresh_queue_settled_index').on(table.metric, table.brand_id, table.date),
    index('refresh_queue_wide_index')
      .on(table.id)
      .where(sql`${table.date} is null or ${table.brand_id} is null`),
  ],
)
