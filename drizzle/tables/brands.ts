import { sql } from 'drizzle-orm'
import { boolean, check, index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { organizations } from './organizations.ts'

export const brands = pgTable(
  'brands',
  {
    id: uuid().primaryKey().default(sql`gen_random_uuid()`),
    organization_id: uuid()
      .notNull()
      .references(() => organizations.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    display_name: text().notNull(),
    url: text().notNull(),
    site_url: text().notNull(),
    industry: text(),
    aliases: text().array().notNull().default([]),
    active: boolean().notNull().default(true),
    created_at: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    index().on(table.organization_id),
    // It is part of keys of daily rows, and an index row holds 2,704 bytes.
    check('brands_name', sql`octet_length(${table.name}) <= 2000`),
  ],
)
