import { type Endpoint, isPaged } from '../reference.ts'

const TYPES: Readonly<Record<string, string>> = { integer: 'INTEGER', number: 'REAL', boolean: 'INTEGER' }

/** Returns the columns of an endpoint's table in SQLite. Rows carry no brand, so those of a metric get a column for it. */
export const sqliteColumns = (endpoint: Endpoint): { name: string; type: string }[] => [
  ...(isPaged(endpoint) ? [{ name: 'brand_id', type: 'TEXT' }] : []),
  ...endpoint.fields.map(({ name, type }) => ({ name, type: TYPES[type] ?? 'TEXT' })),
]

/** Joins items with commas, in lines of at most 66 characters after the indent. */
export const wrapped = (items: readonly string[], indent: string): string =>
  items
    .join(', ')
    .replace(/(.{1,66}(?:,|$)) ?/g, `${indent}$1\n`)
    .trimEnd()
