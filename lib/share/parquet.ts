import { parquetMetadataAsync, parquetReadObjects, type SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'

/** The type of a column, by its name in Delta's schemas. */
export type ColumnType = 'string' | 'date' | 'long' | 'double' | 'boolean'

export type Column = { readonly name: string; readonly type: ColumnType }

/** A row's values in the order of its columns, as JSON or Parquet holds them. */
export type Values = readonly unknown[]

const DAY_MS = 86_400_000

const CODECS: Readonly<
  Record<ColumnType, { element: Partial<SchemaElement>; encode?: (value: never) => unknown }>
> = {
  string: { element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } },
  date: {
    element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
    encode: (day: string | Date) => new Date(day).getTime() / DAY_MS,
  },
  long: { element: { type: 'INT64' }, encode: (value: number | bigint) => BigInt(value) },
  double: { element: { type: 'DOUBLE' } },
  boolean: { element: { type: 'BOOLEAN' } },
}

/** A Parquet file that grows by row groups. */
type ParquetFile = {
  readonly add: (rows: readonly Values[]) => void
  readonly finish: () => Uint8Array<ArrayBuffer>
}

/** Starts a Parquet file in memory. Every column may be null: Delta allows columns that later files add. */
export function startParquet(columns: readonly Column[]): ParquetFile {
  const writer = new ByteWriter()
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
  const parquet = new ParquetWriter({ writer, schema })
  return {
    add: (rows) => {
      const columnData = columns.map(({ name, type }, index) => ({
        name,
        data: rows.map((row) => encode(row[index], CODECS[type].encode)),
      }))
      parquet.write({ columnData, rowGroupSize: rows.length })
    },
    finish: () => {
      parquet.finish()
      return writer.getBytes()
    },
  }
}

/** Decodes text as it is: hyparquet would drop a byte order mark. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: false })

const PARSERS = { stringFromBytes: (bytes: Uint8Array | undefined) => bytes && utf8.decode(bytes) }

/** Yields the rows of a Parquet file, by column. A row group is in memory as a whole. */
export async function* readParquet(
  content: Uint8Array<ArrayBuffer>,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  // Copies no more than what is read: the buffer of a view has other bytes around it.
  const { byteLength } = content
  const file = { byteLength, slice: (start: number, end?: number) => content.slice(start, end).buffer }
  const metadata = await parquetMetadataAsync(file)
  let rowStart = 0
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows)
    yield* await parquetReadObjects({ file, metadata, rowStart, rowEnd, parsers: PARSERS })
    rowStart = rowEnd
  }
}

const encode = (value: unknown, convert: ((value: never) => unknown) | undefined): unknown =>
  value === null || convert === undefined ? value : convert(value as never)
