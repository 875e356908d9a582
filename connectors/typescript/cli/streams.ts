import type { ColumnType as DeltaType, Column as TableColumn } from '../../../lib/parquet.ts'
import definition from './streams.json' with { type: 'json' }

type ColumnType = 'uuid' | 'text' | 'date' | 'integer' | 'number' | 'boolean' | 'timestamp'

const DELTA_TYPES: Readonly<Record<ColumnType, DeltaType>> = {
  uuid: 'string',
  text: 'string',
  date: 'date',
  integer: 'long',
  number: 'double',
  boolean: 'boolean',
  timestamp: 'timestamp',
}

/** A column of a table, and the field of the service's row that fills it. */
export type Column = {
  readonly name: string
  readonly field: string
  readonly type: ColumnType
  readonly nullable: boolean
}

/** An endpoint whose rows become a table. */
export type Stream = {
  /** Name of the table. */
  readonly name: string
  readonly endpoint: string
  readonly title: string
  readonly description: string
  readonly columns: readonly Column[]
  /** The columns that the endpoint sends. */
  readonly sent: readonly Column[]
  /** The columns of the table. */
  readonly tableColumns: readonly TableColumn[]
  readonly formula: Formula | null
}

type Term = string | { readonly rate: string; readonly of: string }

/** A rate of a window: part / whole × 100, over all rows or for each value of a column. */
export type Formula = {
  readonly part: readonly Term[]
  readonly whole: readonly Term[]
  readonly per?: string | undefined
  readonly breakdown?: string | undefined
}

const streamsOf = (kind: string): Stream[] =>
  definition
    .filter((stream) => stream.kind === kind)
    .map((stream) => {
      const columns = stream.columns as Column[]
      const tableColumns = columns.map(({ name, type }) => ({ name, type: DELTA_TYPES[type] }))
      return { ...stream, columns, sent: columns.filter(({ name }) => name !== 'brand_id'), tableColumns }
    })

/** The metrics, whose rows have a `date`. */
export const METRICS: readonly Stream[] = streamsOf('metric')

const [brands] = streamsOf('brands')
if (brands === undefined) throw new Error('streams.json has no brands')
export const BRANDS: Stream = brands
