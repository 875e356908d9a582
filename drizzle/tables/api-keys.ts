import { sql } from 'drizzle-orm'
import { check, customType, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { id, instant, partOf } from './columns.ts'
import { organizations } from './organizations.ts'
import { users } from './users.ts'

const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })

export const apiKeyColumns = () => ({
  id: id(),
  organization_id: partOf(() => organizations.id),
  created_by: partOf(() => users.id),
  scope: text({ enum: ['export', 'tools'] }).notNull(),
  label: text().notNull(),
  /** SHA-256 of the whole key; the key itself is never stored. */
  key_hash: bytea().notNull().unique(),
  last_four: text().notNull(),
  /** The brands that the key may read; null for every brand of the organization. */
  brand_ids: uuid().array(),
  expires_at: instant(),
  revoked_at: instant(),
  created_at: instant().notNull().defaultNow(),
})

export const apiKeys = pgTable('api_keys', apiKeyColumns(), (table) => [
  index().on(table.organization_id),
  check('api_keys_scope', sql`${table.scope} in ('export', 'tools')`),
  check('api_keys_key_hash', sql`octet_length(${table.key_hash}) = 32`),
])
