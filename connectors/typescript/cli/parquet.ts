import { isDeepStrictEqual } from 'node:util'
import { type AsyncBuffer, parquetMetadataAsync, parquetReadObjects, type SchemaElement } from 'hyparquet'
import { ParquetWriter, type Writer } from 'hyparquet-writer'
import { DAY_MS } from './days.ts'
import { sha256 } from './hash.ts'
import type { Column, ColumnType } from './streams.ts'

/** Bounds of a row group, which is in memory as a whole. */
const GROUP_ROWS = 20_000
const GROUP_CHARACTERS = 8_000_000

/** A row by its columns: days are `YYYY-MM-DD`, integers are numbers. */
export type Row = Readonly<Record<string, unknown>>

type Codec = {
  readonly element: Partial<SchemaElement>
  readonly encode?: (value: never) => unknown
  readonly decode?: (cell: never) => unknown
}

const TEXT: Codec = {
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
}

const CODECS: Readonly<Record<ColumnType, Codec>> = {
  uuid: TEXT,
  text: TEXT,
  date: {
    element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
    encode: (day: string) => Date.parse(day) / DAY_MS,
    decode: (date: Date) => date.toISOString().slice(0, 10),
  },
  integer: {
    element: { type: 'INT64' },
    encode: (value: number) => BigInt(value),
    decode: (cell: bigint) => Number(cell),
  },
  number: { element: { type: 'DOUBLE' } },
  boolean: { element: { type: 'BOOLEAN' } },
  timestamp: {
    element: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    },
    encode: (text: string) => new Date(text),
    decode: (time: Date) => time.toISOString(),
  },
}

/** Writes a file, and returns the number of its rows. */
export async function writeParquet(
  writer: Writer,
  columns: readonly Column[],
  rows: AsyncIterable<Row> | Iterable<Row>,
): Promise<number> {
  const parquet = new ParquetWriter({ writer, schema: schemaOf(columns) })
  const texts = columns.filter(({ type }) => type === 'text').map(({ name }) => name)
  let group: Row[] = []
  let characters = 0
  let count = 0
  const flush = () => {
    if (group.length === 0) return
    const columnData = columns.map(({ name, type }) => ({
      name,
      data: group.map((row) => convert(row[name], CODECS[type].encode)),
    }))
    parquet.write({ columnData, rowGroupSize: group.length })
    count += group.length
    group = []
    characters = 0
  }
  for await (const row of rows) {
    group.push(row)
    for (const name of texts) characters += String(row[name]).length
    if (group.length === GROUP_ROWS || characters > GROUP_CHARACTERS) flush()
  }
  flush()
  parquet.finish()
  return count
}

const schemaOf = (columns: readonly Column[]): SchemaElement[] => [
  { name: 'schema', num_children: columns.length },
  ...columns.map(
    ({ name, type }): SchemaElement => ({
      name,
      ...CODECS[type].element,
      // A file that was written before the column existed has no values.
      repetition_type: 'OPTIONAL',
    }),
  ),
]

/** Names the columns of files and their types: another name means that a file has others. */
export const schemaName = (columns: readonly Column[]): string =>
  sha256(JSON.stringify(columns.map(({ name, type }) => [name, type]))).slice(0, 16)

/** Whether a file has these columns, with the types in which they are written. Throws when it is no Parquet file. */
export async function hasColumns(file: AsyncBuffer, columns: readonly Column[]): Promise<boolean> {
  const { schema } = await parquetMetadataAsync(file)
  // Other writers name it for each INT64.
  const annotation = ({ converted_type }: SchemaElement) =>
    converted_type === 'INT_64' ? '' : converted_type
  const describe = (element: SchemaElement) => [element.name, element.type, annotation(element)].join()
  return isDeepStrictEqual(schema.slice(1).map(describe), schemaOf(columns).slice(1).map(describe))
}

/** Reads columns of the rows of a file, one row group at a time. */
export async function* readParquet(file: AsyncBuffer, columns: readonly Column[]): AsyncGenerator<Row> {
  const metadata = await parquetMetadataAsync(file)
  const names = metadata.schema
    .map(({ name }) => name)
    .filter((name) => columns.some((column) => column.name === name))
  let rowStart = 0
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows)
    for (const row of await parquetReadObjects({ file, metadata, columns: names, rowStart, rowEnd })) {
      for (const { name, type } of columns) row[name] = convert(row[name], CODECS[type].decode)
      yield row
    }
    rowStart = rowEnd
  }
}

/** Returns the days of a file, and how many rows they have. */
export async function countDays(file: AsyncBuffer): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for await (const { date } of readParquet(file, [DATE]))
    counts.set(String(date), (counts.get(String(date)) ?? 0) + 1)
  return counts
}

const DATE: Column = { name: 'date', field: 'date', type: 'date', nullable: false }

const convert = (value: unknown, codec: Codec['encode']): unknown =>
  value === null || value === undefined || codec === undefined ? (value ?? null) : codec(value as never)
