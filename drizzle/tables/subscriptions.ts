import { sql } from 'drizzle-orm'
import { check, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'
import { organizations } from './organizations.ts'

export const subscriptions = pgTable(
  'subscriptions',
  {
    organization_id: uuid()
      .primaryKey()
      .references(() => organizations.id, { onDelete: 'cascade' }),
    plan: text({ enum: ['lite', 'pro', 'agency', 'enterprise'] }).notNull(),
    status: text({ enum: ['active', 'past_due', 'canceled'] }).notNull(),
    updated_at: instant().notNull().defaultNow(),
  },
  (table) => [
    check('subscriptions_plan', sql`${table.plan} in ('lite', 'pro', 'agency', 'enterprise')`),
    check('subscriptions_status', sql`${table.status} in ('active', 'past_due', 'canceled')`),
  ],
)
