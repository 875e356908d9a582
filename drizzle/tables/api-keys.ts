import { sql } from 'drizzle-orm'
import { check, customType, index, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { organizations } from './organizations.ts'
import { users } from './users.ts'

const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })

export const apiKeyColumns = () => ({
  id: uuid().primaryKey().default(sql`gen_random_uuid()`),
  organization_id: uuid()
    .notNull()
    .references(() => organizations.id, { onDelete: 'cascade' }),
  created_by: uuid()
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' }),
  scope: text({ enum: ['export', 'tools'] }).notNull(),
  label: text().notNull(),
  /** SHA-256 of the whole key; the key itself is never stored. */
  key_hash: bytea().notNull().unique(),
  last_four: text().notNull(),
  /** The brands that the key may read; null for every brand of the organization. */
  brand_ids: uuid().array(),
  expires_at: timestamp({ withTimezone: true }),
  revoked_at: timestamp({ withTimezone: true }),
  created_at: timestamp({ withTimezone: true }).notNull().defaultNow(),
})

export const apiKeys = pgTable('api_keys', apiKeyColumns(), (table) => [
  index().on(table.organization_id),
  check('api_keys_scope', sql`${table.scope} in ('export', 'tools')`),
  check('api_keys_key_hash', sql`octet_length(${table.key_hash}) = 32`),
])
