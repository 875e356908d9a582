import { addDays } from '../days.ts'

/** The periods to choose from: the number of their days, through the last day of a brand. */
const PERIODS: Readonly<Record<string, number | undefined>> = {
  'All days': undefined,
  'Last 90 days': 90,
  'Last 30 days': 30,
}

export const PERIOD_NAMES: readonly string[] = Object.keys(PERIODS)

/** Returns the first day of a period; an empty text when that is any day. */
export function firstDay(period: string, last: string | undefined): string {
  const days = PERIODS[period]
  return days === undefined || last === undefined ? '' : addDays(last, 1 - days)
}
