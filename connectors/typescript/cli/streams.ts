import type { ColumnType as DeltaType, Column as TableColumn } from '../../../lib/share/parquet.ts'
import {
  type Column,
  type ColumnType,
  type Stream as Endpoint,
  readStreams,
} from '../../../site/reference/streams.ts'

const DELTA_TYPES: Readonly<Record<ColumnType, DeltaType>> = {
  uuid: 'string',
  text: 'string',
  date: 'date',
  integer: 'long',
  number: 'double',
  boolean: 'boolean',
  timestamp: 'timestamp',
  json: 'string',
}

/** An endpoint whose rows become a table. */
export type Stream = Endpoint & {
  /** The columns that the endpoint sends. */
  readonly sent: readonly Column[]
  /** The columns of the table. */
  readonly tableColumns: readonly TableColumn[]
}

const ENDPOINTS = readStreams()

const streamsOf = (kind: Endpoint['kind']): Stream[] =>
  ENDPOINTS.filter((stream) => stream.kind === kind).map((stream) => ({
    ...stream,
    sent: stream.columns.filter(({ name }) => name !== 'brand_id'),
    tableColumns: stream.columns.map(({ name, type }) => ({ name, type: DELTA_TYPES[type] })),
  }))

/** The metrics, whose rows have a `date`. */
export const METRICS: readonly Stream[] = streamsOf('metric')

const [brands] = streamsOf('brands')
if (brands === undefined) throw new Error('No endpoint lists the brands')
export const BRANDS: Stream = brands
