import { PLANS, type Plan } from './plans.ts'

const DAY = 86_400_000

/** Days before today at which a window starts without `fromDate` (docs/specification.md, Windows). */
export const DEFAULT_DAYS = 30

/** A window as requested: days as `YYYY-MM-DD`, undefined for a missing parameter. */
export type RequestedWindow = { readonly fromDate?: string | undefined; readonly toDate?: string | undefined }

/** A window as applied: its first and last day, both inclusive, and the instant at which it ends. */
export type Window = { readonly first: string; readonly last: string; readonly end: string }

/** Returns the UTC day of an instant, `YYYY-MM-DD`. */
export const dayOf = (instant: Date): string => instant.toISOString().slice(0, 10)

const daysBefore = (now: Date, days: number): string => dayOf(new Date(now.getTime() - days * DAY))

const earliest = (plan: Plan, now: Date): string => {
  const { lookbackDays } = PLANS[plan]
  return lookbackDays === null ? '0001-01-01' : daysBefore(now, lookbackDays)
}

/** Returns the window of a first page: adds the defaults and clamps the start to the plan's lookback. */
export function resolveWindow({ fromDate, toDate }: RequestedWindow, plan: Plan, now: Date): Window {
  const requested = fromDate ?? daysBefore(now, DEFAULT_DAYS)
  const clamp = earliest(plan, now)
  return {
    first: requested > clamp ? requested : clamp,
    last: toDate ?? dayOf(now),
    end: toDate === undefined ? now.toISOString() : `${toDate}T23:59:59.999Z`,
  }
}

/**
 * Returns the window of a later page: the first page's, so that a midnight during a run changes nothing. Clamps a start
 * that the plan does not cover even one day earlier, for example after a downgrade.
 */
export function resumeWindow(pinned: Window, plan: Plan, now: Date): Window {
  const covered = earliest(plan, new Date(now.getTime() - DAY))
  return pinned.first >= covered ? pinned : { ...pinned, first: earliest(plan, now) }
}
