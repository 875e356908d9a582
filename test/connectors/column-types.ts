import { expect } from 'vitest'
import document from '../../functions/openapi.json' with { type: 'json' }

/** What each tool calls the type of a field. */
const TYPES: Readonly<Record<string, RegExp>> = {
  date: /^(type )?date/i,
  uuid: /^uuid/i,
  boolean: /^bool/i,
  integer: /int/i,
  number: /decimal|numeric|float64|currency/i,
  string: /string|text|varchar/i,
}

type Schema = { readonly type: string | readonly string[]; readonly format?: string }

/** Fields of an endpoint's rows, with the pattern of their type. */
function fieldsOf(endpoint: string): { name: string; pattern: RegExp | undefined }[] {
  const { CitationShareRow, SentimentRow, VisibilityRow } = document.components.schemas
  const schemas: Record<string, { properties: Record<string, Schema> }> = {
    'citation-share': CitationShareRow,
    sentiment: SentimentRow,
    visibility: VisibilityRow,
  }
  return Object.entries(schemas[endpoint]?.properties ?? {}).map(([name, { type, format }]) => ({
    name,
    pattern: TYPES[format ?? [type].flat()[0] ?? ''],
  }))
}

/** Expects a tool's types of an endpoint's columns, in their order. */
export function expectTyped(endpoint: string, types: readonly string[]): void {
  const fields = fieldsOf(endpoint)
  expect(types).toHaveLength(fields.length)
  for (const [index, { name, pattern }] of fields.entries())
    expect(types[index], `${endpoint}.${name}`).toMatch(pattern ?? /unknown/)
}
