import { addDays } from '../../../site/charts/days.ts'

/** Days from the first to the last, both included and `YYYY-MM-DD`. */
export type Window = { readonly from: string; readonly to: string }

/** Whether a text is a day. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text

/** Returns the month of a day, `YYYY-MM`. */
export const monthOf = (day: string): string => day.slice(0, 'YYYY-MM'.length)
