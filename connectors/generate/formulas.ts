import { fieldsOf, type Notation, toCode } from '../../site/reference/formula.ts'
import type { Stream } from '../../site/reference/streams.ts'

type Formula = NonNullable<Stream['formula']>

/** A figure of a window: what a stream's formula computes. */
export type Figure = {
  /** Name of the daily rate that it has for one row, or else of the stream. */
  readonly name: string
  /** What it is, in one line. */
  readonly description: string
  readonly stream: Stream
  readonly formula: Formula
  /** Columns that rows must be grouped by: figures of several of their values together have no meaning. */
  readonly per: readonly string[]
  /** Columns that the formula reads, in the order in which it names them. */
  readonly columns: readonly string[]
}

const describe = (title: string, per: readonly string[]): string => {
  const grouped = per.length > 0 ? ` Group by ${per.join(' and ')}.` : ''
  return `${title} of a period in percent: sums divided, not an average of daily rates. Null when the divisor is 0.${grouped}`
}

/** Returns the figure of a stream; nothing when it has no formula. */
function figureOf(stream: Stream): Figure | undefined {
  const { name, title, formula, columns, key, totals } = stream
  if (formula === null) return undefined
  const rate = columns.find((column) => column.type === 'number' && !totals.includes(column.name))
  const per =
    formula.per === undefined ? [] : key.filter((column) => column !== 'brand_id' && column !== 'date')
  const summed = [formula.part, formula.whole].flatMap(fieldsOf)
  return {
    name: rate?.name ?? name,
    description: describe(title, per),
    stream,
    formula,
    per,
    columns: [...new Set(summed)],
  }
}

/** Returns the figures of the streams that have a formula. */
export const figuresOf = (streams: readonly Stream[]): Figure[] =>
  streams.flatMap((stream) => figureOf(stream) ?? [])

/** Translates a formula into a quotient of SQL: a percentage, null when the divisor is 0. */
export function toSql({ part, whole }: Formula, notation: Notation): string {
  const dividend = toCode(part, notation)
  const divisor = toCode(whole, notation)
  return `100.0 * ${part.length > 1 ? `(${dividend})` : dividend} / nullif(${divisor}, 0)`
}
