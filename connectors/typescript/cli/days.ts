export const DAY_MS = 86_400_000

/** Days from the first to the last, both included and `YYYY-MM-DD`. */
export type Window = { readonly from: string; readonly to: string }

/** Returns the day that many days later. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length)

/** Whether a text is a day. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text

/** Returns the month of a day, `YYYY-MM`. */
export const monthOf = (day: string): string => day.slice(0, 'YYYY-MM'.length)
