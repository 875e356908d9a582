import { sql } from 'drizzle-orm'
import { boolean, check, pgTable, text, timestamp, unique, uuid } from 'drizzle-orm/pg-core'
import { brands } from './brands.ts'

export const competitors = pgTable(
  'competitors',
  {
    id: uuid().primaryKey().default(sql`gen_random_uuid()`),
    brand_id: uuid()
      .notNull()
      .references(() => brands.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    aliases: text().array().notNull().default([]),
    active: boolean().notNull().default(true),
    created_at: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    unique().on(table.brand_id, table.name),
    // As of brands.
    check('competitors_name', sql`octet_length(${table.name}) <= 2000`),
  ],
)
