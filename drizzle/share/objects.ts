import { sql } from 'drizzle-orm'
import { check, date, index, integer, text, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'
import { textC } from '../text-c.ts'

/** The columns of an object that name its set: the rows of a table and brand that one or more objects hold. */
const set = {
  metric: textC().notNull(),
  brand_id: uuid().notNull(),
  /** `brand` for the brand's own row; else the rows of a `day`, of a `third` of a month, or of a `month`. */
  period: text().notNull(),
  /** The first and last day of the set; `-infinity` for `brand`. */
  first: date().notNull(),
  last: date().notNull(),
  /** The digests of the days' rows, combined by XOR (docs/specification.md, Digest); for `brand` the MD5 of the row. */
  digest: text().notNull(),
}

/** The objects that versions of the share name (docs/architecture.md, The share). In the bucket, one is `<id>.parquet`. */
export const objects = daily.table(
  'objects',
  {
    id: uuid().primaryKey(),
    ...set,
    rows: integer().notNull(),
    bytes: integer().notNull(),
    /** The first version that names the object. */
    added: integer().notNull(),
    /** The first version that no longer names it; null while the latest does. */
    removed: integer(),
  },
  (table) => [
    index('objects_current_index').on(table.metric, table.brand_id, table.first).where(sql`removed is null`),
    index('objects_former_index')
      .on(table.metric, table.brand_id, table.removed, table.added)
      .where(sql`removed is not null`),
    index('objects_added_index').on(table.metric, table.brand_id, table.added),
    index('objects_removed_index').on(table.removed).where(sql`removed is not null`),
  ],
)

/** Objects of the next version. A row exists before its object does. Of each set, at most one reading is staged. */
export const stagedObjects = daily.table(
  'staged_objects',
  {
    id: uuid().primaryKey(),
    ...set,
    /** `writing` until the object is written; then `written`. */
    state: text().notNull(),
    /** 0 for a day that has emptied and for a brand that is gone, which have no object. */
    rows: integer().notNull().default(0),
    bytes: integer().notNull().default(0),
  },
  (table) => [
    index('staged_objects_brand_index').on(table.brand_id),
    check('staged_objects_state', sql`state in ('writing', 'written')`),
  ],
)
