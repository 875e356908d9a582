import definition from './streams.json' with { type: 'json' }

export type ColumnType = 'uuid' | 'text' | 'date' | 'integer' | 'number' | 'boolean' | 'timestamp'

/** A column of a Parquet file, and the field of the service's row that fills it. */
export type Column = {
  readonly name: string
  readonly field: string
  readonly type: ColumnType
  readonly nullable: boolean
}

/** An endpoint whose rows become files. */
export type Stream = {
  readonly endpoint: string
  readonly title: string
  readonly description: string
  readonly columns: readonly Column[]
  /** The columns that the endpoint sends. */
  readonly sent: readonly Column[]
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
      return { ...stream, columns, sent: columns.filter(({ name }) => name !== 'brand_id') }
    })

/** The metrics, whose rows have a `date`. */
export const METRICS: readonly Stream[] = streamsOf('metric')

const [brands] = streamsOf('brands')
if (brands === undefined) throw new Error('streams.json has no brands')
export const BRANDS: Stream = brands
