import { sql } from 'drizzle-orm'
import { check, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { daily } from '../metrics/schema.ts'

/**
 * Who created, rotated and revoked keys. Triggers on the keys write it (drizzle/sql/keys.sql). It is a table of the
 * service, and has no foreign keys: the application's tables may have other names, and an entry stays when its key, user or
 * organization is deleted. A restore of those tables alone lets a key be rotated or revoked again, which adds another entry.
 */
export const keyLog = daily.table(
  'key_log',
  {
    key_id: uuid().notNull(),
    event: text({ enum: ['created', 'rotated', 'revoked'] }).notNull(),
    at: timestamp({ withTimezone: true }).notNull(),
    organization_id: uuid().notNull(),
    /** The user who acted; null for a statement that names none. */
    user_id: uuid(),
    /** The key that replaces a rotated one. */
    successor_id: uuid().unique(),
  },
  (table) => [
    check('key_log_event', sql`${table.event} in ('created', 'rotated', 'revoked')`),
    check('key_log_successor', sql`(${table.event} = 'rotated') = (${table.successor_id} is not null)`),
  ],
)
