import type { Term } from '../../lib/page/operation.ts'

/** How a language writes a sum over rows, a field of a row, and rounding. */
export type Notation = {
  readonly sum: (term: string) => string
  readonly field: (name: string) => string
  readonly round: (value: string) => string
}

/** Writes a side of a formula as code. */
export const toCode = (side: readonly Term[], { sum, field, round }: Notation): string =>
  side
    .map((term) =>
      sum(typeof term === 'string' ? field(term) : round(`${field(term.rate)} * ${field(term.of)} / 100`)),
    )
    .join(' + ')

/** Returns the names of the fields that a side of a formula reads. */
export const fieldsOf = (side: readonly Term[]): string[] =>
  side.flatMap((term) => (typeof term === 'string' ? term : [term.rate, term.of]))

/** The notation of SQL. */
export const sql: Notation = {
  sum: (term) => `sum(${term})`,
  field: (name) => name,
  round: (value) => `round(${value})`,
}
