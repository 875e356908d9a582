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

/** Splits a Markdown file before each heading, that of the file excepted. */
export const splitSections = (markdown: string): string[] => markdown.split(/\n(?=##+ )/)

/** Returns sections of a Markdown file, each from its heading to the next one. Throws when it lacks a heading. */
export function sections(markdown: string, headings: readonly string[]): string {
  const parts = splitSections(markdown)
  return headings
    .map((heading) => {
      const part = parts.find((each) => each.startsWith(`${heading}\n`))
      if (part === undefined) throw new Error(`The file has no heading "${heading}"`)
      return part.trim()
    })
    .join('\n\n')
}
