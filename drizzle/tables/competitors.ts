import { sql } from 'drizzle-orm'
import { boolean, check, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { brands } from './brands.ts'
import { id, instant, isList, partOf } from './columns.ts'

export const competitors = pgTable(
  'competitors',
  {
    id: id(),
    brand_id: partOf(() => brands.id),
    name: text().notNull(),
    aliases: text().array().notNull().default([]),
    active: boolean().notNull().default(true),
    created_at: instant().notNull().defaultNow(),
  },
  (table) => [
    unique().on(table.brand_id, table.name),
    // As of brands.
    check('competitors_name', sql`octet_length(${table.name}) <= 2000`),
    check('competitors_aliases', isList(table.aliases)),
  ],
)
