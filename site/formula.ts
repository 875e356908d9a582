/** How a language writes a sum over rows, a field of a row, and rounding. */
export type Notation = {
  readonly sum: (inner: string) => string
  readonly field: (name: string) => string
  readonly round: string
}

/** One sum of a formula; what it adds up may hold parentheses of its own. */
const SUM = /sum\(((?:[^()]|\([^()]*\))*)\)/g

const NAME = /\b[a-z_]+\b(?!\()/g

/** A side of a formula in the notation of a language. */
export const write = (side: string, { sum, field, round }: Notation): string =>
  side.replace(SUM, (_, inner: string) =>
    sum(
      inner
        .replace(NAME, field)
        .replaceAll('×', '*')
        .replace(/\bround\(/g, `${round}(`),
    ),
  )

/** The fields that a side of a formula adds up. */
export const fieldsOf = (side: string): string[] =>
  [...side.matchAll(SUM)].flatMap(([, inner = '']) => inner.match(NAME) ?? [])

/** The notation of JavaScript and TypeScript, with `sum(rows, (row) => …)` at hand. */
export const javascript = (rows: string): Notation => ({
  sum: (inner) => `sum(${rows}, (row) => ${inner})`,
  field: (name) => `row.${name}`,
  round: 'Math.round',
})
