/** Writes a name or a formula as code. */
export const code = (text: string): string => `\`${text}\``

/** Writes text of the document in one line. Parts between backticks are code; escapes what would be markup elsewhere. */
export const prose = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replace(/[\\*_[\]<>&~]/g, '\\$&') : code(part)))
    .join('')

/** Writes a table; cells are Markdown. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')

/** Writes a block of code. */
export const block = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``
