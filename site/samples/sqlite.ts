import { type Endpoint, isPaged, listsChanges } from '../../reference/reference.ts'
import { tableOf } from './request.ts'

const TYPES: Readonly<Record<string, string>> = { integer: 'INTEGER', number: 'REAL', boolean: 'INTEGER' }

/** Returns the columns of an endpoint's table in SQLite. Rows carry no brand, so those of a metric get a column for it. */
export const sqliteColumns = (endpoint: Endpoint): { name: string; type: string }[] => [
  ...(isPaged(endpoint) ? [{ name: 'brand_id', type: 'TEXT' }] : []),
  ...endpoint.fields.map(({ name, type }) => ({ name, type: TYPES[type] ?? 'TEXT' })),
]

/** Returns the definitions of the table: its columns, and the key by which a later change replaces an earlier one. */
export const sqliteDefinitions = (endpoint: Endpoint): string[] => [
  ...sqliteColumns(endpoint).map(({ name, type }) => `${name} ${type}`),
  ...(listsChanges(endpoint) ? [`PRIMARY KEY (brand_id, ${endpoint.primaryKey.join(', ')})`] : []),
]

/** Returns the start of the statement that inserts a row. */
export const insertInto = (endpoint: Endpoint): string =>
  `${listsChanges(endpoint) ? 'INSERT OR REPLACE' : 'INSERT'} INTO ${tableOf(endpoint)} VALUES`

/** Joins items with commas, in lines of at most 66 characters after the indent. */
export const wrapped = (items: readonly string[], indent: string): string =>
  items
    .join(', ')
    .replace(/(.{1,66}(?:,|$)) ?/g, `${indent}$1\n`)
    .trimEnd()
