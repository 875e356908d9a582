import { PAGE_SIZE } from '../../../lib/rows/size.ts'
import type { Window } from './days.ts'

/** A day of an endpoint and its number of rows. Days that are not needed are in the copy. */
export type KnownDay = { readonly date: string; readonly rows: number; readonly isNeeded: boolean }

/** Days that are fetched together, and the number of their rows. */
export type FetchWindow = Window & { readonly rows: number }

/** Returns the requests that rows take. */
export const pagesOf = (rows: number): number => Math.ceil(rows / PAGE_SIZE)

/** Needed days without other rows between them, and the number of rows before the first and up to the last one. */
type Run = Window & { readonly start: number; readonly end: number }

/** Windows up to the last one, and the requests of all. */
type Joined = {
  readonly requests: number
  readonly last?: { readonly window: FetchWindow; readonly before: Joined }
}

/**
 * Joins needed days in the windows that take the fewest requests, over days between them where that takes none more.
 * `days` are all that may have rows between the first and the last needed day, in ascending order. Needed days have rows.
 */
export function fetchWindows(days: readonly KnownDay[]): FetchWindow[] {
  let least: Joined = { requests: 0 }
  // The last window begins with one of the runs, and the windows before it are the least for the runs before. The latest
  // run is first: where requests are equal, the last window has the fewest rows.
  const begins: { readonly run: Run; readonly before: Joined }[] = []
  for (const run of runsOf(days)) {
    begins.unshift({ run, before: least })
    const ways = begins.map(({ run: { from, start }, before }): Joined => {
      const window = { from, to: run.to, rows: run.end - start }
      return { requests: before.requests + pagesOf(window.rows), last: { window, before } }
    })
    least = ways.reduce((one, other) => (other.requests < one.requests ? other : one))
  }
  const windows: FetchWindow[] = []
  for (let { last } = least; last !== undefined; { last } = last.before) windows.unshift(last.window)
  return windows
}

function runsOf(days: readonly KnownDay[]): Run[] {
  const runs: Run[] = []
  let end = 0
  for (const { date, rows, isNeeded } of days) {
    const start = end
    end += rows
    if (!isNeeded) continue
    const adjacent = runs.at(-1)?.end === start ? runs.pop() : undefined
    runs.push({ from: date, start, ...adjacent, to: date, end })
  }
  return runs
}
