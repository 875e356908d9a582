import { addDays } from '../charts/days.ts'
import type { Days } from '../charts/lines.ts'

/** The first and the last day of a brand that has rows. */
export type BrandDays = { readonly first: string; readonly last: string }

/** The days of a period, and those of the period of equal length before it, when there are rows of all of it. */
export type Period = Days & { readonly before: Days | undefined }

/** The number of days up to the last one of a brand. All are more than there can be. */
const PERIODS: Readonly<Record<string, number>> = {
  ...{ 'Last 7 days': 7, 'Last 30 days': 30, 'Last 60 days': 60, 'Last 90 days': 90 },
  'All days': 4_000_000,
}
export const PERIOD_NAMES: readonly string[] = Object.keys(PERIODS)

/** Returns the days of a period of a brand. */
export function periodOf(name: string, { first, last }: BrandDays): Period {
  const days = PERIODS[name] ?? 0
  const [start, before] = [addDays(last, 1 - days), addDays(last, 1 - 2 * days)]
  return {
    from: start < first ? first : start,
    to: last,
    before: before < first ? undefined : { from: before, to: addDays(start, -1) },
  }
}

/** Returns the periods that the days of a brand fill, and the longest that has one before it, or all days. */
export function periodsOf(brands: readonly BrandDays[]): { names: string[]; longest: string } {
  const isFilled = (name: string) =>
    brands.some(({ first, last }) => addDays(first, (PERIODS[name] ?? 0) - 1) <= last)
  const isCompared = (name: string) => brands.some((days) => periodOf(name, days).before !== undefined)
  return {
    names: PERIOD_NAMES.filter((name) => name === 'All days' || isFilled(name)),
    longest: PERIOD_NAMES.findLast(isCompared) ?? 'All days',
  }
}
