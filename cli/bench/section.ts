/** What a section gets. */
export type Setting = {
  /** The PostgreSQL server on which a section creates databases of its own. */
  readonly serverUrl: string
  /** Scales a full volume to this run. */
  readonly sized: (full: number) => number
  /** Reports progress. */
  readonly report: (progress: string) => void
}

/** A printed table. Numbers are ratios unless their column says otherwise. */
export type Table = {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
  readonly note?: string
}

/** One subject of the benchmark: a file of `sections/` that exports it as `section`. */
export type Section = (setting: Setting) => Promise<Table[]>

/** Formats a table as Markdown. */
export function markdown({ title, columns, rows, note }: Table): string {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? figure(cell) : cell)))
  const hasNumber = (index: number) => rows.some((row) => typeof row[index] === 'number')
  const rule = columns.map((_, index) => (hasNumber(index) ? '--:' : '---'))
  const lines = [columns, rule, ...cells].map((line) => `| ${line.join(' | ')} |`)
  return [`### ${title}`, lines.join('\n'), ...(note ? [note] : [])].join('\n\n')
}

/** Formats a number with three digits, or with all digits of a larger whole number. */
export const figure = (value: number): string =>
  Number.isInteger(value) || Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : value.toPrecision(3)
