import { type SQL, sql } from 'drizzle-orm'
import { PAID_PLANS, PLANS, type Plan } from '../access/plans.ts'

const DAY = 86_400_000

/** Days before today at which a window starts without `fromDate` (docs/specification.md, Windows). */
export const DEFAULT_DAYS = 30

/** A window as requested: days as `YYYY-MM-DD`, undefined for a missing parameter. */
export type RequestedWindow = { readonly fromDate?: string | undefined; readonly toDate?: string | undefined }

/** Milliseconds for which a run keeps its start when the clamp moves past it (docs/specification.md, Cursors). */
const PIN_MS = 7 * DAY

/** A window as applied: its first and last day, both inclusive, and the instant at which it ends. */
export type Window = {
  readonly first: string
  readonly last: string
  readonly end: string
  /**
   * The time of the first page when the plan's limit reaches the first day within seven days; else null, so that the
   * cursors and the `ETag` of a page stay the same.
   */
  readonly startedAt: string | null
}

/** Returns the UTC day of an instant, `YYYY-MM-DD`. */
export const dayOf = (instant: Date): string => instant.toISOString().slice(0, 10)

/** The dates of a window that reaches as far back as the plan does, and has no end. */
export const EVERY_DAY = { fromDate: '0001-01-01', toDate: '9999-12-31' } as const satisfies RequestedWindow

const daysBefore = (now: Date, days: number): string => dayOf(new Date(now.getTime() - days * DAY))

const later = (one: string, other: string): string => (one > other ? one : other)

const defaultStart = (now: Date): string => daysBefore(now, DEFAULT_DAYS)

const earliest = (plan: Plan, now: Date): string => {
  const { lookbackDays } = PLANS[plan]
  return lookbackDays === null ? EVERY_DAY.fromDate : daysBefore(now, lookbackDays)
}

/** Returns a requested window with the dates of `defaults` where it has none. */
export const withDefaults = (
  { fromDate, toDate }: RequestedWindow,
  defaults: RequestedWindow = {},
): RequestedWindow => ({ fromDate: fromDate ?? defaults.fromDate, toDate: toDate ?? defaults.toDate })

/** Returns the window of a first page: adds the defaults and clamps the start to the plan's lookback. */
export function resolveWindow({ fromDate, toDate }: RequestedWindow, plan: Plan, now: Date): Window {
  const first = later(fromDate ?? defaultStart(now), earliest(plan, now))
  return {
    first,
    last: toDate ?? dayOf(now),
    end: toDate === undefined ? now.toISOString() : `${toDate}T23:59:59.999Z`,
    startedAt: first < earliest(plan, new Date(now.getTime() + PIN_MS)) ? now.toISOString() : null,
  }
}

/** Whether a window without `fromDate` ends before its default start, so that it could never have a row. */
export const lacksFromDate = ({ fromDate, toDate }: RequestedWindow, now: Date): boolean =>
  fromDate === undefined && toDate !== undefined && toDate < defaultStart(now)

/**
 * Returns the window of a later page: that of the first page, so that a midnight during a run changes nothing. The plan
 * clamps its start as of the time of the first page, or after seven days as of now: a lower plan moves it, a higher one
 * does not. Without `startedAt`, the clamp is as of now, too.
 */
export function resumeWindow(pinned: Window, plan: Plan, now: Date): Window {
  const startedAt = new Date(pinned.startedAt ?? now)
  const clampedAt = now.getTime() - startedAt.getTime() > PIN_MS ? now : startedAt
  return { ...pinned, first: later(pinned.first, earliest(plan, clampedAt)) }
}

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
