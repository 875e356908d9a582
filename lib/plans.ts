export type Limits = {
  /** Days before today that a key may read; null for all of history. */
  readonly lookbackDays: number | null
  /** Active keys that an organization may have; 0 where the API is not part of the plan. */
  readonly keys: number
}

/** What each billing plan allows (specification, sections 5 and 8). */
export const PLANS = {
  lite: { lookbackDays: 0, keys: 0 },
  pro: { lookbackDays: 90, keys: 2 },
  agency: { lookbackDays: 180, keys: 5 },
  enterprise: { lookbackDays: null, keys: 20 },
} as const satisfies Record<string, Limits>

export type Plan = keyof typeof PLANS

export const isPlan = (name: string | null): name is Plan => name !== null && Object.hasOwn(PLANS, name)

/** The plans that the API is part of. */
export const PAID_PLANS = Object.keys(PLANS)
  .filter(isPlan)
  .filter((plan) => PLANS[plan].keys > 0)
