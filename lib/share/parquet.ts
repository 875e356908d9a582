import {
  type AsyncBuffer,
  type ParquetParsers,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type SchemaElement,
} from 'hyparquet'
import { ParquetWriter, type Writer } from 'hyparquet-writer'

/** The type of a column, by its name in Delta's schemas. */
export type ColumnType = 'string' | 'date' | 'long' | 'double' | 'boolean' | 'timestamp'

export type Column = { readonly name: string; readonly type: ColumnType }

/** A row by its columns, with values as JSON has them: days are `YYYY-MM-DD`, longs numbers, timestamps ISO texts in UTC. */
export type Row = Readonly<Record<string, unknown>>

const DAY_MS = 86_400_000

const CODECS: Readonly<
  Record<ColumnType, { element: Partial<SchemaElement>; encode?: (value: unknown) => unknown }>
> = {
  string: { element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } },
  date: {
    element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
    encode: (day) => (day instanceof Date ? day.getTime() : Date.parse(String(day))) / DAY_MS,
  },
  long: {
    element: { type: 'INT64' },
    encode: (value) => (typeof value === 'bigint' ? value : BigInt(Number(value))),
  },
  double: { element: { type: 'DOUBLE' } },
  boolean: { element: { type: 'BOOLEAN' } },
  // Delta demands microseconds.
  timestamp: {
    element: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    },
    encode: (time) => BigInt(Date.parse(String(time))) * 1000n,
  },
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: false })

const PARSERS: Partial<ParquetParsers> = {
  // hyparquet's own drops a byte order mark.
  stringFromBytes: (bytes) => bytes && utf8.decode(bytes),
  dateFromDays: (days) => new Date(days * DAY_MS).toISOString().slice(0, 10),
  timestampFromMicroseconds: (micros) => new Date(Number(micros / 1000n)).toISOString(),
}

/** Returns the schema of a table of these columns, as JSON of Delta. */
export const deltaSchema = (columns: readonly Column[]): string =>
  JSON.stringify({
    type: 'struct',
    fields: columns.map(({ name, type }) => ({ name, type, nullable: true, metadata: {} })),
  })

/** A Parquet file that grows by rows, whose values are in the order of its columns. */
type ParquetFile = {
  readonly add: (values: readonly unknown[]) => void
  readonly finish: () => void
}

/** Without it, Spark refuses days before 1582-10-15: it asks in which calendar they are. */
const CALENDAR = [{ key: 'org.apache.spark.version', value: '3.5.0' }]

/** Bounds of a row group, which is in memory as a whole. */
const GROUP_ROWS = 20_000
const GROUP_CHARACTERS = 4_000_000

/** Starts a Parquet file. Every column may be null: Delta allows columns that later files add. */
export function startParquet(writer: Writer, columns: readonly Column[]): ParquetFile {
  const schema: SchemaElement[] = [
    { name: 'schema', num_children: columns.length },
    ...columns.map(
      ({ name, type }): SchemaElement => ({
        name,
        ...CODECS[type].element,
        repetition_type: 'OPTIONAL',
      }),
    ),
  ]
  const parquet = new ParquetWriter({ writer, schema, kvMetadata: CALENDAR })
  let rows: (readonly unknown[])[] = []
  let characters = 0
  const flush = () => {
    if (rows.length === 0) return
    const columnData = columns.map(({ name, type }, index) => ({
      name,
      data: rows.map((row) => encode(row[index], CODECS[type].encode)),
    }))
    parquet.write({ columnData, rowGroupSize: rows.length })
    rows = []
    characters = 0
  }
  return {
    add: (values) => {
      rows.push(values)
      for (const value of values) if (typeof value === 'string') characters += value.length
      if (rows.length === GROUP_ROWS || characters >= GROUP_CHARACTERS) flush()
    },
    finish: () => {
      flush()
      parquet.finish()
    },
  }
}

/** Yields these columns of the rows of a Parquet file; null for a column that it lacks. A row group is in memory as a whole. */
export async function* readParquet(file: AsyncBuffer, columns: readonly Column[]): AsyncGenerator<Row> {
  const metadata = await parquetMetadataAsync(file)
  const stored = new Set(parquetSchema(metadata).children.map(({ element }) => element.name))
  const names = columns.map(({ name }) => name)
  const options = { file, metadata, columns: names.filter((name) => stored.has(name)), parsers: PARSERS }
  let rowStart = 0
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows)
    for (const row of await parquetReadObjects({ ...options, rowStart, rowEnd })) {
      for (const name of names) row[name] = decode(row[name])
      yield row
    }
    rowStart = rowEnd
  }
}

/** Returns bytes as a file to read. Copies no more than what is read: the buffer of a view has other bytes around it. */
export const bufferOf = (bytes: Uint8Array): AsyncBuffer => ({
  byteLength: bytes.byteLength,
  slice: (start, end) => new Uint8Array(bytes.subarray(start, end)).buffer,
})

const encode = (value: unknown, convert = (value: unknown): unknown => value): unknown =>
  value == null ? null : convert(value)

const decode = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : (value ?? null))
