import type { Table } from './section.ts'

/** A table in Markdown. */
export function markdown({ title, columns, rows, note }: Table): string {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? figure(cell) : cell)))
  const rule = columns.map((_, index) => (typeof rows[0]?.[index] === 'number' ? '--:' : '---'))
  const lines = [columns, rule, ...cells].map((line) => `| ${line.join(' | ')} |`)
  return [`### ${title}`, lines.join('\n'), ...(note ? [note] : [])].join('\n\n')
}

/** Three digits, and all those of a larger whole. */
export const figure = (value: number): string =>
  Number.isInteger(value) || Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : value.toPrecision(3)
