import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** That an instant has a UTC day from 0001-01-01 to 9999-12-31, which is what a window can ask for. */
export const inCalendar = (instant: PgColumn): SQL =>
  sql`${instant} >= '0001-01-01T00:00:00Z' and ${instant} < '10000-01-01T00:00:00Z'`
