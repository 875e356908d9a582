// Plain JavaScript: cli/main.mjs uses it before anything is installed.

/** A terminal that does not know its size has 0 columns. */
const DEFAULT_COLUMNS = 80

/** A key that was passed by mistake, for example as --key. */
const KEY = /svc_live_\w+/g

/**
 * Prints a message on standard error, without keys. On a terminal its lines end between words.
 *
 * @param {string} message
 */
export function printError(message) {
  const { isTTY, columns } = process.stderr
  const lines = message.replaceAll(KEY, 'svc_live_…').split('\n')
  console.error((isTTY ? lines.flatMap((line) => wrap(line, columns)) : lines).join('\n'))
}

/**
 * Breaks a line between words into lines of at most so many columns. A longer word has a line of its own.
 *
 * @param {string} line
 * @param {number} [columns]
 * @returns {string[]}
 */
export function wrap(line, columns) {
  const width = columns || DEFAULT_COLUMNS
  if (line.length <= width) return [line]
  const end = line.lastIndexOf(' ', width)
  const next = end > 0 ? end : line.indexOf(' ')
  return next <= 0 ? [line] : [line.slice(0, next), ...wrap(line.slice(next + 1), columns)]
}
