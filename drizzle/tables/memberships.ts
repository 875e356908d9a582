import { sql } from 'drizzle-orm'
import { check, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instant, partOf } from './columns.ts'
import { organizations } from './organizations.ts'
import { users } from './users.ts'

export const memberships = pgTable(
  'memberships',
  {
    organization_id: partOf(() => organizations.id),
    user_id: partOf(() => users.id),
    role: text({ enum: ['owner', 'admin', 'member'] }).notNull(),
    created_at: instant().notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.user_id] }),
    check('memberships_role', sql`${table.role} in ('owner', 'admin', 'member')`),
  ],
)
