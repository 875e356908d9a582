import type { Row } from './service.ts'

/** A table of a copy: its rows, and the type of each column. */
export type CopiedTable = {
  readonly rows: readonly Row[]
  /** The columns by their names in lower case without underscores. One of nulls in JSON has no type. */
  readonly columns: ReadonlyMap<string, { readonly name: string; readonly type: string | undefined }>
}

export type Copy = ReadonlyMap<string, CopiedTable>

export type CopyReader = (tables: readonly string[]) => Promise<Copy>

/** A column's name without what naming conventions change: `displayName` is `display_name`. */
export const plain = (name: string): string => name.replaceAll('_', '').toLowerCase()

/** Singer's loaders stamp the rows that are deleted. */
export const isLive = (row: Row): boolean => (row._sdc_deleted_at ?? null) === null
