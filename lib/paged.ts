import type { PgTable } from 'drizzle-orm/pg-core'
import type * as z from 'zod/mini'
import type { Declaration } from './operation.ts'
import { CHANGES_KEY } from './page/all-brands.ts'
import { allBrandsStatements, pageStatements } from './page/statements.ts'
import { fieldsOf } from './row-schema.ts'
import type { PagedData } from './serve-paged.ts'
import type { StoredOperation } from './stored-row.ts'
import type { RequestedWindow } from './window.ts'

export type Paged<Shape extends z.core.$ZodShape, Rows extends PgTable> = StoredOperation<Shape, Rows> & {
  /** Columns that order and identify a brand's rows, ascending. */
  readonly key: readonly (keyof Rows['_']['columns'] & string)[]
  /** The first column of the key, a time as text, where the parameter `since` bounds it. */
  readonly since?: keyof Rows['_']['columns'] & string
  /** The dates that a request does not send; without them, its window is the last 30 days up to now. */
  readonly window?: RequestedWindow
}

/** Declares an endpoint with a brand's rows: brand, window, cursor, and a page or a file. */
export function paged<Shape extends z.core.$ZodShape, Rows extends PgTable>({
  rows: table,
  key,
  since,
  window: defaults,
  ...operation
}: Paged<Shape, Rows>): Declaration<PagedData> {
  const { path, row } = operation
  const kind = since === undefined ? 'metric' : 'changes'
  const rows = { path, table, row, key, since }
  const ofBrand = { key, statements: pageStatements(rows) }
  const ofAll = kind === 'metric' ? null : { key: CHANGES_KEY, statements: allBrandsStatements(rows) }
  return {
    operation: { ...operation, kind },
    statements: [ofBrand, ofAll].flatMap((source) => Object.values(source?.statements ?? {})),
    servedBy: 'serve-paged.ts',
    data: { path, kind, defaults, fields: fieldsOf(row), ofBrand, ofAll },
  }
}
