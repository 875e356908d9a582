import { type SQL, sql } from 'drizzle-orm'
import { PAID_PLANS, type Plan } from '../access/plans.ts'
import type { Window } from './window.ts'

// A page's window depends on the organization's plan, which only the page's own statement finds out. So the Worker
// sends the window of every paid plan and the statement picks one: access and page take one round trip.

type Days = Pick<Window, 'first' | 'last'>

/** Returns the days of each paid plan's window as JSON, for the placeholder `window_by_plan`. */
export const windowByPlan = (windowOf: (plan: Plan) => Days): string =>
  JSON.stringify(Object.fromEntries(PAID_PLANS.map((plan) => [plan, daysOf(windowOf(plan))])))

const daysOf = ({ first, last }: Days): Days => ({ first, last })

/** SQL of the relation `windows`, which holds the JSON of `windowByPlan`. */
export const windows: SQL = sql`(select ${sql.placeholder('window_by_plan')}::jsonb as by_plan) as windows`

/** SQL of the first or last day of the window under `access.plan`. */
export const dayOfWindow = (day: 'first' | 'last'): SQL =>
  sql`(windows.by_plan -> access.plan ->> ${sql.raw(`'${day}'`)})::date`
