import type { Plan } from '../../drizzle/tables/application.ts'

export type { Plan }

export type Limits = {
  /** Days before today that a key may read; null for the full history. */
  readonly lookbackDays: number | null
  /** Maximum number of active keys; 0 when the plan does not include the API. */
  readonly keys: number
}

/** The limits of each billing plan (docs/specification.md, Plans). */
export const PLANS = {
  lite: { lookbackDays: 0, keys: 0 },
  pro: { lookbackDays: 90, keys: 2 },
  agency: { lookbackDays: 180, keys: 5 },
  enterprise: { lookbackDays: null, keys: 20 },
} as const satisfies Record<Plan, Limits>

export const isPlan = (name: string | null): name is Plan => name !== null && Object.hasOwn(PLANS, name)

/** The plans that include the API. */
export const PAID_PLANS = Object.keys(PLANS)
  .filter(isPlan)
  .filter((plan) => PLANS[plan].keys > 0)
