import type * as z from 'zod/mini'
import type { Field } from './row.ts'

/** A row's schema: its fields are the columns that are read, in the order in which they are written. */
export type RowSchema = z.ZodMiniObject

/** The fields of a row. */
export const fieldNames = (row: RowSchema): string[] => Object.keys(row.shape)

/** The types besides text whose cells are JSON as Postgres writes them. */
const UNQUOTED: ReadonlySet<string> = new Set(['number', 'int', 'boolean', 'record'])

/** Returns how each field of a row travels. */
export const fieldsOf = (row: RowSchema): Field[] =>
  Object.entries(row.shape).map(([name, schema]) => {
    const { def } = schema._zod
    const isNullable = isNullableDef(def)
    const inner = isNullable ? def.innerType._zod.def : def
    const isQuoted = inner.type === 'string'
    if (!isQuoted && !UNQUOTED.has(inner.type))
      throw new TypeError(`${name} has a type that rows cannot hold`)
    const holdsCommas = inner.type === 'record' || (isQuoted && !hasFormat(inner))
    return { name, isQuoted, isNullable, holdsCommas }
  })

/** Whether a text has a format or a pattern, none of which allows a comma. */
const hasFormat = (def: z.core.$ZodTypeDef): boolean =>
  'format' in def || (def.checks ?? []).some(({ _zod }) => _zod.def.check === 'string_format')

const isNullableDef = (def: z.core.$ZodTypeDef): def is z.core.$ZodNullableDef => def.type === 'nullable'
