import { sql } from 'drizzle-orm'
import { date, integer, jsonb, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { textC } from '../text-c.ts'
import { metrics } from './schema.ts'

/** The changes of daily.changes under their wire names. `stamp` is `changed_at` in the form that its index has. */
export const changeListing = metrics
  .view('change_listing', {
    brand_id: uuid().notNull(),
    stamp: timestamp({ withTimezone: true }).notNull(),
    endpoint: textC().notNull(),
    date: date().notNull(),
    rows: integer().notNull(),
    totals: jsonb().$type<Readonly<Record<string, number>>>().notNull(),
    changed_at: text().notNull(),
  })
  .as(sql`
    select
      brand_id,
      changed_at as stamp,
      endpoint,
      date,
      rows,
      totals,
      to_char(changed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as changed_at
    from daily.changes
  `)
