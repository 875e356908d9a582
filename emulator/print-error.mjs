// Plain JavaScript: cli/main.mjs uses it before anything is installed.

/**
 * Prints a message on standard error. On a terminal its lines end between words.
 *
 * @param {string} message
 */
export function printError(message) {
  const { isTTY, columns } = process.stderr
  const lines = message.split('\n')
  console.error((isTTY ? lines.flatMap((line) => wrap(line, columns)) : lines).join('\n'))
}

/**
 * Breaks a line between words into lines of at most `width` columns. A longer word has a line of its own.
 *
 * @param {string} line
 * @param {number} width
 * @returns {string[]}
 */
export function wrap(line, width) {
  if (line.length <= width) return [line]
  const end = line.lastIndexOf(' ', width)
  const next = end > 0 ? end : line.indexOf(' ')
  return next <= 0 ? [line] : [line.slice(0, next), ...wrap(line.slice(next + 1), width)]
}
