import type { Row } from './figure.ts'

/** One token of JSON: a text, a mark, or whatever stands between marks. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"\s]+/g

/** JSON with a line a member. Numbers stay as they were written: `100.0000` is not 100 to whoever reads types from it. */
export function indented(json: string): string {
  let [depth, before] = [0, '']
  const line = () => `\n${'  '.repeat(depth)}`
  const write = (token: string): string => {
    const opened = before === '{' || before === '['
    const start = opened && token !== '}' && token !== ']' ? line() : ''
    if (token === '{' || token === '[') depth += 1
    if (token === ',') return token + line()
    if (token === ':') return ': '
    if (token !== '}' && token !== ']') return start + token
    depth -= 1
    return opened ? token : line() + token
  }
  return (json.match(TOKEN) ?? [])
    .map((token) => {
      const written = write(token)
      before = token
      return written
    })
    .join('')
}

/** An answer's body; null when it is no JSON, or no object. */
export function parsed(json: string): Row | null {
  try {
    const value: unknown = JSON.parse(json, written)
    return isRow(value) ? value : null
  } catch {
    return null
  }
}

/** Numbers as they were written, where the browser tells how. */
function written(_name: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? value) : value
}

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
