import type { PgColumn, PgTable, PgView } from 'drizzle-orm/pg-core'
import type * as z from 'zod/mini'
import type { Operation } from './operation.ts'

type ColumnsOf<Rows extends PgTable | PgView> = Rows extends PgTable
  ? Rows['_']['columns']
  : Rows extends { _: { selectedFields: infer Fields } }
    ? Fields
    : never

/** The type of a column's cells in JSON: decimals are numbers there, and strings to Drizzle. */
type CellOf<Column> = Column extends PgColumn
  ?
      | (Column['_']['columnType'] extends 'PgNumeric' ? number : Column['_']['data'])
      | (Column['_']['notNull'] extends true ? never : null)
  : never

type Equal<Left, Right> = [Left] extends [Right] ? ([Right] extends [Left] ? true : false) : false

/** The fields of a row that have no stored column of the same name, type and nullability. */
type Mismatch<Shape, Columns> = {
  [Name in keyof Shape]: Name extends keyof Columns
    ? Equal<z.output<Shape[Name]>, CellOf<Columns[Name]>> extends true
      ? never
      : Name
    : Name
}[keyof Shape]

/** A row's schema, each field of which is a column of `Rows`. Any other field is named in the compiler's error. */
type StoredRowSchema<Shape extends z.core.$ZodShape, Rows extends PgTable | PgView> = z.ZodMiniObject<Shape> &
  ([Mismatch<Shape, ColumnsOf<Rows>>] extends [never]
    ? unknown
    : { readonly 'not a stored column of this type': Mismatch<Shape, ColumnsOf<Rows>> })

/** An operation whose rows are stored. Its fields and key are checked against the columns of `Rows`. */
export type StoredOperation<Shape extends z.core.$ZodShape, Rows extends PgTable | PgView> = Omit<
  Operation,
  'kind' | 'row' | 'primaryKey'
> & {
  readonly row: StoredRowSchema<Shape, Rows>
  readonly primaryKey: readonly (keyof Shape & string)[]
  readonly rows: Rows
}
