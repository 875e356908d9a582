import { escapeControls } from '../../../cli/local/escape-controls.ts'
import { wrap } from '../../../cli/local/print-error.mjs'

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 4 })

/** Returns a number with separators, such as `102,741`. */
export const formatNumber = (number: number): string => NUMBER.format(number)

/** Returns a number and what it counts, such as `1 row` or `102,741 rows`. */
export const counted = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`

const UNITS = ['kB', 'MB', 'GB', 'TB']

/** Returns a size, such as `3.1 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(Math.max(Math.floor(Math.log10(bytes) / 3), 1), UNITS.length)
  return `${(bytes / 1000 ** power).toFixed(1)} ${UNITS[power - 1]}`
}

/** Returns a duration, such as `38 s` or `12 minutes`. */
export const formatSeconds = (seconds: number): string =>
  seconds < 120 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} minutes`

/** Returns the minute of a time in UTC, such as `2026-11-27 19:58 UTC`. */
export const formatMinute = (time: string): string =>
  `${time.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')} UTC`

/** Returns a text for a terminal: it interprets nothing of it, and lines end before words that do not fit in its columns. */
export const forTerminal = (text: string, columns?: number): string =>
  columns === undefined ? escapeControls(text) : wrap(escapeControls(text), columns).join('\n')

/** Returns some names, and how many others there are: `a, b and 3 more`. */
export function listOf(names: readonly string[], most: number): string {
  const more = names.length - most
  return more > 0 ? `${names.slice(0, most).join(', ')} and ${formatNumber(more)} more` : names.join(', ')
}

/** Whether a text is an id of a brand. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
