import { sql } from 'drizzle-orm'
import { boolean, check, index, pgTable, text } from 'drizzle-orm/pg-core'
import { id, inCalendar, instant, isList, partOf } from './columns.ts'
import { organizations } from './organizations.ts'

export const brands = pgTable(
  'brands',
  {
    id: id(),
    organization_id: partOf(() => organizations.id),
    name: text().notNull(),
    display_name: text().notNull(),
    url: text().notNull(),
    site_url: text().notNull(),
    industry: text(),
    aliases: text().array().notNull().default([]),
    active: boolean().notNull().default(true),
    created_at: instant().notNull().defaultNow(),
  },
  (table) => [
    // The order of a file's parts, by code point.
    index('brands_order_index').on(table.organization_id, sql`${table.name} collate "C"`, table.id),
    // It is part of keys of daily rows, and an index row holds 2,704 bytes.
    check('brands_name', sql`octet_length(${table.name}) <= 2000`),
    check('brands_created_at', inCalendar(table.created_at)),
    check('brands_aliases', isList(table.aliases)),
  ],
)
