import type { Row } from '../charts/sums.ts'

/** What browsers add to JSON: the text of numbers when they parse, and numbers of a text when they write. */
type Json = typeof JSON & { readonly rawJSON?: (text: string) => unknown }

/** Indents JSON and keeps the text of its numbers, such as `100.0000`, in browsers that can. Returns other text as it is. */
export function indentJson(json: string): string {
  const { rawJSON }: Json = JSON
  const keepText = (_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source && rawJSON ? rawJSON(context.source) : value
  try {
    return JSON.stringify(JSON.parse(json, keepText), null, 2)
  } catch {
    return json
  }
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
