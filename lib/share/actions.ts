import type { Column } from './parquet.ts'

/** A file as a statement names it. A feed adds the action, its version and the time of its commit. */
export type File = readonly [
  id: string,
  bytes: number,
  rows: number,
  brandId: string,
  first: string | null,
  last: string | null,
  action?: 'add' | 'remove',
  version?: number,
  committedAt?: string,
]

/** Returns the first two lines of a response: the protocol, and the table's metadata. */
export function metadataLines(table: string, columns: readonly Column[]): string {
  const fields = columns.map(({ name, type }) => ({ name, type, nullable: true, metadata: {} }))
  const metaData = {
    id: `export.metrics.${table}`,
    format: { provider: 'parquet' },
    schemaString: JSON.stringify({ type: 'struct', fields }),
    partitionColumns: [],
    configuration: { enableChangeDataFeed: 'true' },
  }
  return line({ protocol: { minReaderVersion: 1 } }) + line({ metaData })
}

/** Returns the line of a file. */
export function fileLine(file: File, url: string, expirationTimestamp: number): string {
  const [id, size, numRecords, brand_id, first, last, action = 'file', version, committedAt] = file
  const extremes = (date: string | null) => ({ brand_id, ...(date !== null && { date }) })
  const stats = JSON.stringify({ numRecords, minValues: extremes(first), maxValues: extremes(last) })
  const commit = committedAt === undefined ? {} : { version, timestamp: Date.parse(committedAt) }
  return line({ [action]: { url, id, partitionValues: {}, size, stats, ...commit, expirationTimestamp } })
}

const line = (action: object): string => `${JSON.stringify(action)}\n`
