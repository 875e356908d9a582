import { databaseError, type Row } from '../database/db.ts'
import type { RequestLog } from '../request/context.ts'
import { columnReader, required, toCount, toFlag } from './columns.ts'
import type { Field } from './schema.ts'
import type { RowSet } from './write.ts'

/** The fields of the rows that are sent, and the columns that order and identify them. */
export type KeyedFields = { readonly fields: readonly Field[]; readonly key: readonly string[] }

/** The rows that a statement returns. */
export type SizedRowSet = RowSet & {
  /** Key of the last row when others follow. */
  readonly next: readonly string[] | null
  /** How many rows there are, where a file's first statement finds more than it returns. */
  readonly total: number | null
}

/** Column of a result that holds a key column of the last row. */
export const lastOf = (name: string): string => `last_${name}`

/** The values of the placeholders of `keyAfter`. */
export const valuesOfKey = (after: readonly string[]): Record<string, string> =>
  Object.fromEntries(after.map((value, index) => [`after_${index}`, value]))

/** Returns a function that reads the columns of `sizedRows`. It throws 503 for an incomplete result. */
export function sizedRowsReader({ fields, key }: KeyedFields) {
  const readColumns = columnReader(fields)
  return (result: Row, rows: number, log: RequestLog): SizedRowSet => {
    try {
      const { fits, has_more, total } = result
      const count = toCount(fits)
      return {
        columns: readColumns(result, count),
        rows: Math.min(count, rows),
        next: toFlag(has_more) ? key.map((name) => required(result[lastOf(name)])) : null,
        total: total == null ? null : toCount(total),
      }
    } catch (error) {
      throw databaseError(error, log)
    }
  }
}
