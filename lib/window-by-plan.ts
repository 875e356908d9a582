import { PAID_PLANS, type Plan } from './access/plans.ts'
import type { Window } from './window.ts'

// A page's window depends on the organization's plan, which only the page's own statement finds out. So the Worker
// sends the window of every plan and the statement picks one: access and page take one round trip.

type Days = Pick<Window, 'first' | 'last'>

/** Returns the days of each paid plan's window as JSON, for the placeholder `window_by_plan`. */
export const windowByPlan = (windowOf: (plan: Plan) => Days): string =>
  JSON.stringify(Object.fromEntries(PAID_PLANS.map((plan) => [plan, daysOf(windowOf(plan))])))

const daysOf = ({ first, last }: Days): Days => ({ first, last })
