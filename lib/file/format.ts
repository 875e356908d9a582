import type { Field } from '../row.ts'
import { type RowSet, writeCsv, writeCsvHeader, writeNdjson } from '../write-rows.ts'

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
