import { bigint, date, index, text, uuid } from 'drizzle-orm/pg-core'
import { daily } from './schema.ts'
import { xid8 } from './xid8.ts'

/**
 * What each refresh run adds to the queue again, because a transaction that did not see a change may commit after it.
 * Triggers only append; `daily.enqueue_rechecks` looks up the days when a run starts:
 * - with `answer_id`: `date`, or the day of the answer or the days of its citations, of its prompt's brand
 * - with `model_id` or `market_id`: all days with answers of theirs
 * - with `prompt_id`, and `date` or no `brand_id`: `date`, or all days, of the prompt's brand
 * - otherwise: the entry of the queue with this brand and prompt
 */
export const rechecks = daily.table(
  'rechecks',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    metric: text().notNull(),
    /** Null means unknown, for the watermark any brand. */
    brand_id: uuid(),
    prompt_id: uuid(),
    answer_id: uuid(),
    model_id: text(),
    market_id: uuid(),
    date: date(),
    /** The row is done when all transactions before this one have ended: 0 at once; null is for the first run to set. */
    until: xid8(),
  },
  (table) => [index('rechecks_brand_index').on(table.brand_id, table.metric, table.date)],
)
