import type { Line } from './chart-lines.ts'

/** Lines with a name and a colour; the others are muted. */
const NAMED = 5

/** The class of lines that are muted. */
export const OTHER = 'line-other'

/** Returns the class of each line: its colour. `lead` tells whether the first line stands apart. */
export const lineClasses = (lines: readonly Line[], lead: boolean): string[] =>
  lines.map((_, index) => {
    const number = lead ? index : index + 1
    return number > NAMED ? OTHER : `line-${number}`
  })
