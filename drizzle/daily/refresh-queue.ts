import { sql } from 'drizzle-orm'
import { bigint, date, index, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'

/**
 * What the refresh has to compute again, one row per change. Triggers only append, so writers never wait for each
 * other or for a refresh. A null date means all days, a null brand all brands. `prompt_id`, `model_id` or `market_id`
 * narrow an entry without a date to the days that have answers of theirs.
 */
export const refreshQueue = daily.table(
  'refresh_queue',
  {
    /** Where a publication includes this table, Postgres refuses to delete rows that have no key. */
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    metric: text().notNull(),
    brand_id: uuid(),
    date: date(),
    prompt_id: uuid(),
    model_id: text(),
    market_id: uuid(),
    added_at: timestamp({ withTimezone: true }).notNull().default(sql`clock_timestamp()`),
    /** When the day could not be computed. A run that began earlier leaves it alone. */
    failed_at: timestamp({ withTimezone: true }),
  },
  (table) => [
    index('refresh_queue_brand_index').on(table.brand_id, table.metric, table.date),
    index('refresh_queue_age_index').on(table.added_at),
  ],
)
