const DAY_MS = 86_400_000

/** Returns the UTC day that lies a number of days before `today`, both as `YYYY-MM-DD`. */
export const daysBefore = (today: string, days: number): string =>
  new Date(Date.parse(today) - days * DAY_MS).toISOString().slice(0, 10)

/** Days before today: some on both sides of the shortest lookback, 90 days, and the most recent ones. */
export const AGES = [...range(100, 82), ...range(28, 3)]

/** The day from which the command loads, as days before today. */
export const START = 102

function range(first: number, last: number): number[] {
  return Array.from({ length: first - last + 1 }, (_, index) => first - index)
}
