import { type Column, deltaSchema } from './parquet.ts'
import type { NamedObject, Size } from './results.ts'

/** The version that lines belong to, and the time of its commit in milliseconds since 1970. */
export type Commit = { readonly version: number; readonly timestamp: number }

type Described = { readonly name: string; readonly columns: readonly Column[] }

/** Returns the first two lines of a response: the protocol, and the table's metadata with what is known of its version. */
export function metadataLines(
  { name, columns }: Described,
  known: Partial<Size> & { readonly version?: number | undefined },
): string {
  const metaData = {
    id: `export.metrics.${name}`,
    format: { provider: 'parquet' },
    schemaString: deltaSchema(columns),
    partitionColumns: [],
    configuration: { enableChangeDataFeed: 'true' },
    ...known,
  }
  return line({ protocol: { minReaderVersion: 1 } }) + line({ metaData })
}

type ObjectLine = { readonly url: string; readonly expirationTimestamp: number } & Partial<Commit>

/** Returns the line of an object; a feed's has a commit of its own. */
export function objectLine(object: NamedObject, { url, ...rest }: ObjectLine): string {
  const [id, size, numRecords, brand_id, first, last, action = 'file', version, committedAt] = object
  const extremes = (date: string | null) => ({ brand_id, ...(date !== null && { date }) })
  const stats = JSON.stringify({ numRecords, minValues: extremes(first), maxValues: extremes(last) })
  const commit = committedAt === undefined ? {} : { version, timestamp: Date.parse(committedAt) }
  return line({ [action]: { url, id, partitionValues: {}, size, stats, ...rest, ...commit } })
}

/** Returns the last line of a query whose URLs can be renewed. */
export const endLine = (refreshToken: string, minUrlExpirationTimestamp: number): string =>
  line({ endStreamAction: { refreshToken, minUrlExpirationTimestamp } })

const line = (action: object): string => `${JSON.stringify(action)}\n`
