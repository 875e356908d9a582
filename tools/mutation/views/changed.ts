import type { Mutant, MutatedView, Twin } from './mutant.ts'
import { definition, isDeciding, type Token, tokensOf } from './sql.ts'

/** A view's query with a change in it; throws when the piece that changes does not occur as often as was said. */
export function changed(query: string, { sql, becomes, times = 1 }: Mutant | Twin): string {
  const pieces = query.split(sql)
  if (pieces.length - 1 !== times) {
    throw new Error(`"${sql}" occurs ${pieces.length - 1} times, not ${times}, in ${query}`)
  }
  return pieces.join(becomes)
}

/** The deciding parts of a view that no change takes away or replaces, each with what stands around it. */
export function untouched({ view, mutants }: MutatedView): string[] {
  const { query } = definition(view)
  const touched = new Set(mutants.flatMap((mutant) => touchedBy(query, mutant)))
  const tokens = tokensOf(query)
  return tokens
    .filter(({ at }, index) => isDeciding(tokens, index) && !touched.has(at))
    .map(({ text, at }) => `${text} in "${query.slice(Math.max(0, at - 40), at + 40)}"`)
}

/** Where the tokens begin that a change does not leave as they were. */
function touchedBy(query: string, { sql, becomes }: Mutant | Twin): number[] {
  const before = tokensOf(sql)
  const after = tokensOf(becomes)
  const start = sharedStart(before, after)
  const end = sharedStart(before.slice(start).toReversed(), after.slice(start).toReversed())
  const gone = before.slice(start, before.length - end)
  return occurrences(query, sql).flatMap((from) => gone.map(({ at }) => from + at))
}

function sharedStart(left: readonly Token[], right: readonly Token[]): number {
  const differing = left.findIndex(({ text }, index) => text !== right[index]?.text)
  return differing === -1 ? left.length : differing
}

function occurrences(query: string, sql: string): number[] {
  const found: number[] = []
  for (let at = query.indexOf(sql); at !== -1; at = query.indexOf(sql, at + 1)) found.push(at)
  return found
}
