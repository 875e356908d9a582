import { timestamp, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/**
 * The brands with entries in the queue. A refresh locks a brand's row while it computes the brand's days. Pages read this
 * table and not the queue, whose dead rows stay as long as the oldest snapshot.
 */
export const queuedBrands = daily.table('queued_brands', {
  brand_id: uuid().primaryKey(),
  /** All changes of the brand that were committed before are in the stored rows. */
  as_of: timestamp({ withTimezone: true }).notNull(),
})
