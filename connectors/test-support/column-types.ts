import { expect } from 'vitest'
import { type ColumnType, readStreams } from '../../site/reference/streams.ts'

/** What each tool calls the type of a column. */
const TYPES: Readonly<Partial<Record<ColumnType, RegExp>>> = {
  date: /^(type )?date/i,
  uuid: /^uuid/i,
  boolean: /^bool/i,
  integer: /int/i,
  number: /decimal|numeric|float64|currency/i,
  text: /string|text|varchar/i,
  timestamp: /timestamp/i,
}

/** Expects a tool's types of the fields of an endpoint's rows, in their order. */
export function expectTyped(endpoint: string, types: readonly string[]): void {
  const stream = readStreams().find((each) => each.endpoint === endpoint)
  const fields = stream?.columns.filter(({ name }) => name !== 'brand_id') ?? []
  expect(types).toHaveLength(fields.length)
  for (const [index, { name, type }] of fields.entries())
    expect(types[index], `${endpoint}.${name}`).toMatch(TYPES[type] ?? /unknown/)
}
