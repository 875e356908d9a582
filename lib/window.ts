import { PLANS, type Plan } from './plans.ts'

const DAY = 86_400_000

/** Days before today at which a window starts when no `fromDate` is given (specification, section 8). */
export const DEFAULT_DAYS = 30

/** A window as it was asked for: days as `YYYY-MM-DD`, absent where the parameter was left out. */
export type RequestedWindow = { readonly fromDate?: string | undefined; readonly toDate?: string | undefined }

/** A window as it is applied: its first and last day, both inclusive, and the instant at which it ends. */
export type Window = { readonly first: string; readonly last: string; readonly end: string }

/** The UTC day of an instant, `YYYY-MM-DD`. */
export const dayOf = (instant: Date): string => instant.toISOString().slice(0, 10)

const daysBefore = (now: Date, days: number): string => dayOf(new Date(now.getTime() - days * DAY))

const earliest = (plan: Plan, now: Date): string => {
  const { lookbackDays } = PLANS[plan]
  return lookbackDays === null ? '0001-01-01' : daysBefore(now, lookbackDays)
}

/** The window of a first page: defaults filled in, start moved up to what the plan allows (specification, section 8). */
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
 * The window of a later page: the first page's, so that a midnight crossed in the middle of a run changes nothing.
 * A start that lies further back than that one day is no longer covered by the plan, and is clamped as on a first page.
 */
export function resumeWindow(pinned: Window, plan: Plan, now: Date): Window {
  const covered = earliest(plan, new Date(now.getTime() - DAY))
  return pinned.first >= covered ? pinned : { ...pinned, first: earliest(plan, now) }
}
