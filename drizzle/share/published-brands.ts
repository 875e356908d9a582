import { timestamp, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'
import { textC } from '../text-c.ts'

/** How far the share has each brand. */
export const publishedBrands = daily.table('published_brands', {
  brand_id: uuid().primaryKey(),
  /** The greatest `changed_at` of the brand's days when they were read; empty when it had none. */
  changed_at: textC().notNull(),
  /** When its thirds and months are compared with its days again. */
  periods_due_at: timestamp({ withTimezone: true }).notNull().defaultNow(),
})
