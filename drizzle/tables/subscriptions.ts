import { sql } from 'drizzle-orm'
import { check, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'
import { organizations } from './organizations.ts'

const PLAN_NAMES = ['lite', 'pro', 'agency', 'enterprise'] as const
const STATUSES = ['active', 'past_due', 'canceled'] as const

/** A billing plan. Its limits are in `lib/access/plans.ts`. */
export type Plan = (typeof PLAN_NAMES)[number]

const oneOf = (names: readonly string[]) => sql.raw(names.map((name) => `'${name}'`).join(', '))

export const subscriptions = pgTable(
  'subscriptions',
  {
    organization_id: uuid()
      .primaryKey()
      .references(() => organizations.id, { onDelete: 'cascade' }),
    plan: text({ enum: PLAN_NAMES }).notNull(),
    status: text({ enum: STATUSES }).notNull(),
    updated_at: instant().notNull().defaultNow(),
  },
  (table) => [
    check('subscriptions_plan', sql`${table.plan} in (${oneOf(PLAN_NAMES)})`),
    check('subscriptions_status', sql`${table.status} in (${oneOf(STATUSES)})`),
  ],
)
