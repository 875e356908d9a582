/** How a language writes a sum over rows, a field of a row, and rounding. */
export type Notation = {
  readonly sum: (term: string) => string
  readonly field: (name: string) => string
  readonly round: (value: string) => string
}

/** A sum in a formula. Its term can contain one level of parentheses. */
const SUM = /sum\(((?:[^()]|\([^()]*\))*)\)/g

/** A field in a term. */
export const FIELD = /\b[a-z_]+\b(?!\()/g

/** Translates a side of a formula into code. */
export const toCode = (side: string, { sum, field, round }: Notation): string =>
  side.replace(SUM, (_, term: string) =>
    sum(
      term
        .replace(FIELD, field)
        .replaceAll('×', '*')
        .replace(/\bround\(([^()]*)\)/g, (_, value: string) => round(value)),
    ),
  )

/** Returns the names of the fields that a side of a formula sums. */
export const summedFields = (side: string): string[] =>
  [...side.matchAll(SUM)].flatMap(([, term = '']) => term.match(FIELD) ?? [])

/** The notation of JavaScript and TypeScript. The code needs a function `sum(rows, (row) => …)`. */
export const javascript = (rows: string): Notation => ({
  sum: (term) => `sum(${rows}, (row) => ${term})`,
  field: (name) => `row.${name}`,
  round: (value) => `Math.round(${value})`,
})

/** Writes a side of a formula as a JavaScript function of rows. The code needs the function `sum` as well. */
export const toFunctionCode = (side: string): string => `(rows) => ${toCode(side, javascript('rows'))}`

/** The notation of SQL. */
export const sql: Notation = {
  sum: (term) => `sum(${term})`,
  field: (name) => name,
  round: (value) => `round(${value})`,
}
