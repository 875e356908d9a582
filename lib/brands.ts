import type { PgView } from 'drizzle-orm/pg-core'
import type * as z from 'zod/mini'
import { brandsStatements } from './brands-statement.ts'
import type { Declaration } from './operation.ts'
import { fieldsOf } from './row-schema.ts'
import type { BrandsData } from './serve-brands.ts'
import type { StoredOperation } from './stored-row.ts'

/** `rows` are brands under the row's field names, with `id`, `organization_id` and `active`. */
export type Brands<Shape extends z.core.$ZodShape, Rows extends PgView> = StoredOperation<Shape, Rows> & {
  /** Fields that order and identify the brands. */
  readonly order: readonly (keyof Shape & string)[]
}

/** Declares the endpoint that lists every brand that the key reads. */
export function brands<Shape extends z.core.$ZodShape, Rows extends PgView>({
  rows,
  order,
  ...operation
}: Brands<Shape, Rows>): Declaration<BrandsData> {
  const { path, row } = operation
  const statements = brandsStatements({ view: rows, row, key: order })
  return {
    operation: { ...operation, kind: 'brands' },
    statements: Object.values(statements),
    servedBy: 'serve-brands.ts',
    data: { path, fields: fieldsOf(row), key: order, statements },
  }
}
