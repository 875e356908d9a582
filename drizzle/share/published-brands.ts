import { timestamp, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'
import { textC } from '../text-c.ts'

/** The last change of each brand in the current version. */
export const publishedBrands = daily.table('published_brands', {
  brand_id: uuid().primaryKey(),
  /** The greatest `changed_at` of the brand's days that were read; empty when it had none. */
  since: textC().notNull(),
  /** When its thirds and months are compared with its days again. */
  periods_due_at: timestamp({ withTimezone: true }).notNull().defaultNow(),
})
