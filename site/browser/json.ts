import type { Row } from '../../charts/formula-sums.ts'

/** A token of JSON: a string, a punctuation mark, or a number or literal. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"\s]+/g

/** Indents JSON like `JSON.stringify(…, null, 2)`, but keeps the text of its numbers, such as `100.0000`. */
export function indentJson(json: string): string {
  let [depth, previous] = [0, '']
  const newLine = () => `\n${'  '.repeat(depth)}`
  const write = (token: string): string => {
    const isFirst = previous === '{' || previous === '['
    const isEnd = token === '}' || token === ']'
    const start = isFirst && !isEnd ? newLine() : ''
    if (token === '{' || token === '[') depth += 1
    if (token === ',') return token + newLine()
    if (token === ':') return ': '
    if (!isEnd) return start + token
    depth -= 1
    return isFirst ? token : newLine() + token
  }
  return (json.match(TOKEN) ?? [])
    .map((token) => {
      const written = write(token)
      previous = token
      return written
    })
    .join('')
}

/** Parses a body. Returns null unless it is a JSON object. */
export function parseObject(json: string): Row | null {
  try {
    const value: unknown = JSON.parse(json, keepNumberText)
    return isRow(value) ? value : null
  } catch {
    return null
  }
}

/** Replaces numbers by their text, in browsers that provide it. */
function keepNumberText(_name: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? value) : value
}

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
