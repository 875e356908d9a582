import { type SQL, sql } from 'drizzle-orm'
import { type AnyPgColumn, type PgColumn, timestamp, uuid } from 'drizzle-orm/pg-core'

export const id = () => uuid().primaryKey().default(sql`gen_random_uuid()`)

/** The parent's id: the row is deleted with its parent. */
export const partOf = (parent: () => AnyPgColumn) =>
  uuid().notNull().references(parent, { onDelete: 'cascade' })

export const instant = () => timestamp({ withTimezone: true })

/** That an instant has a UTC day from 0001-01-01 to 9999-12-31, which is what a window can ask for. */
export const inCalendar = (column: PgColumn): SQL =>
  sql`${column} >= '0001-01-01T00:00:00Z' and ${column} < '10000-01-01T00:00:00Z'`

/** That a list of texts is a list, not a table of lists, which Postgres accepts as the same type. */
export const isList = (column: PgColumn): SQL => sql`coalesce(array_ndims(${column}), 1) = 1`
