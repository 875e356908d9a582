import type { Cell } from '../database/db.ts'
import type { Field } from './schema.ts'

/** One field of some rows, with all that a writer needs. */
export type Column = {
  readonly name: string
  readonly isQuoted: boolean
  readonly cells: readonly Cell[]
  /** Whether no cell is null or needs escaping in JSON. */
  readonly isPlain: boolean
}

/** The first `rows` rows of columns. */
export type RowSet = { readonly columns: readonly Column[]; readonly rows: number }

/** Writes rows as JSON objects with a separator between them. No row contains a line separator. */
export const writeJson = ({ columns, rows }: RowSet, separator: string): string =>
  rowWriter(columns)(0, rows, separator)

/**
 * Returns a function that writes rows of columns as {@link writeJson} does: `rows` of them from `first` on. Numbers, booleans
 * and objects keep the text that Postgres wrote, so a rate keeps its four decimals.
 */
export function rowWriter(columns: readonly Column[]) {
  const fields = columns.map((column, index) => {
    const { cells, quote } = jsonCells(column)
    return { label: `${index === 0 ? '{' : ','}${JSON.stringify(column.name)}:${quote}`, cells, quote }
  })
  return (first: number, rows: number, separator: string): string => {
    let json = ''
    for (let row = first; row < first + rows; row += 1) {
      if (row > first) json += separator
      for (const { label, cells, quote } of fields) json += label + cells[row] + quote
      json += '}'
    }
    return json
  }
}

/** Returns a column's cells as JSON, and the quote that is still to be put around every one of them. */
function jsonCells({ cells, isPlain, isQuoted }: Column): { cells: readonly Cell[]; quote: '"' | '' } {
  if (isPlain) return { cells, quote: isQuoted ? '"' : '' }
  return { cells: isQuoted ? cells.map(quoted) : cells, quote: '' }
}

/** Some readers take these for the end of a line, in the middle of a row. */
const LINE_SEPARATORS = /[\u0085\u2028\u2029]/g

const quoted = (cell: Cell): string =>
  JSON.stringify(cell).replace(
    LINE_SEPARATORS,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Writes rows as newline-delimited JSON: the objects of {@link writeJson}, each with a line feed. */
export const writeNdjson = (rows: RowSet): string => (rows.rows === 0 ? '' : `${writeJson(rows, '\n')}\n`)

const CRLF = '\r\n'

/** Writes the header of {@link writeCsv}. */
export const writeCsvHeader = (fields: readonly Field[]): string =>
  `${fields.map(({ name }) => name).join(',')}${CRLF}`

/** Writes rows as CSV (RFC 4180). Null is an empty cell, and an empty text is `""`. */
export function writeCsv({ columns, rows }: RowSet): string {
  let csv = ''
  for (let row = 0; row < rows; row += 1) {
    for (const [index, { cells }] of columns.entries()) {
      if (index > 0) csv += ','
      csv += csvCell(cells[row] ?? null)
    }
    csv += CRLF
  }
  return csv
}

const NEEDS_QUOTES = /[",\r\n]/

/** Writes a cell of CSV. */
export function csvCell(cell: Cell): string {
  if (cell === null) return ''
  return cell === '' || NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** The formats of a response: JSON pages, or a file with all rows. */
export const FORMATS = ['json', 'csv', 'ndjson'] as const

export type Format = (typeof FORMATS)[number]
export type FileFormat = Exclude<Format, 'json'>

export const isFile = (format: Format | undefined): format is FileFormat =>
  format !== undefined && format !== 'json'

/** How a file is written, and its content type. */
type FileWriter = {
  readonly contentType: string
  /** Writes what stands before the rows. */
  readonly writeHeader: (fields: readonly Field[]) => string
  readonly writeRows: (rows: RowSet) => string
}

export const FILE_WRITERS: Readonly<Record<FileFormat, FileWriter>> = {
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    writeHeader: writeCsvHeader,
    writeRows: writeCsv,
  },
  ndjson: { contentType: 'application/x-ndjson', writeHeader: () => '', writeRows: writeNdjson },
}
