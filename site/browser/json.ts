import type { Row } from '../charts/sums.ts'

/** What browsers add to JSON: the text of numbers when they parse, and numbers of a text when they write. */
type Json = typeof JSON & { readonly rawJSON?: (text: string) => unknown }

/** Indents JSON and keeps the text of its numbers, such as `100.0000`, in browsers that can. Returns other text as it is. */
export function indentJson(json: string): string {
  const { rawJSON = Number }: Json = JSON
  try {
    return JSON.stringify(parse(json, rawJSON), null, 2)
  } catch {
    return json
  }
}

/** Parses a body, and keeps the text of its numbers in browsers that can. Returns null unless it is a JSON object. */
export function parseObject(json: string): Row | null {
  try {
    const value = parse(json, String)
    return isRow(value) ? value : null
  } catch {
    return null
  }
}

/** Parses JSON. Reads the text of its numbers in browsers that provide it. */
const parse = (json: string, read: (text: string) => unknown): unknown =>
  JSON.parse(json, (_, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source ? read(context.source) : value,
  )

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
