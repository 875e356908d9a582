import { uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'
import { textC } from '../text-c.ts'

/** How far the current version has each brand. */
export const publishedBrands = daily.table('published_brands', {
  brand_id: uuid().primaryKey(),
  /** The greatest `changed_at` of daily.changes when the brand was read; empty to compare every day again. */
  through: textC().notNull(),
})
