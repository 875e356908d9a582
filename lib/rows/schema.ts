import type { PgColumn, PgTable, PgView } from 'drizzle-orm/pg-core'
import * as z from 'zod/mini'

/** A row's schema: its fields are the columns that are read, in the order in which they are written. */
export type RowSchema = z.ZodMiniObject

/** The fields of a row. */
export const fieldNames = (row: RowSchema): string[] => Object.keys(row.shape)

/** How a field's column travels from Postgres, and how its cells are written. */
export type Field = {
  readonly name: string
  /** Free text and objects hold commas, so their separator begins with a mark. */
  readonly holdsCommas: boolean
  readonly isQuoted: boolean
  readonly isNullable: boolean
}

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
export type StoredRowSchema<
  Shape extends z.core.$ZodShape,
  Rows extends PgTable | PgView,
> = z.ZodMiniObject<Shape> &
  ([Mismatch<Shape, ColumnsOf<Rows>>] extends [never]
    ? unknown
    : { readonly 'not a stored column of this type': Mismatch<Shape, ColumnsOf<Rows>> })

/** Metadata of a field whose values add up over rows. The OpenAPI document shows it. */
const ADDS_UP = { 'x-aggregation': 'sum' } as const

/** A UUID in lower case with hyphens. */
export const uuid = (description: string) => z.guid().check(z.meta({ description }))

/** A UTC calendar day, `YYYY-MM-DD`. */
export const day = (description: string) => z.iso.date().check(z.meta({ description }))

/** An instant in UTC with milliseconds, `YYYY-MM-DDTHH:MM:SS.sssZ`. */
export const instant = (description: string) =>
  z.iso.datetime({ precision: 3 }).check(z.meta({ description }))

/** An instant in UTC with microseconds, `YYYY-MM-DDTHH:MM:SS.ssssssZ`. */
export const preciseInstant = (description: string) =>
  z.iso.datetime({ precision: 6 }).check(z.meta({ description }))

export const text = (description: string) => z.string().check(z.meta({ description }))

/** The last segment of a path: lower-case letters and hyphens. */
export const pathSegment = (description: string) =>
  z.string().check(z.regex(/^[a-z-]+$/), z.meta({ description }))

export const flag = (description: string) => z.boolean().check(z.meta({ description }))

/** A count: a whole number from 0, stored in 32 bits. */
export const count = (description: string) => z.int32().check(z.gte(0), z.meta({ description, ...ADDS_UP }))

/** A percentage from 0 to 100, always written with four decimals. */
export const rate = (description: string) =>
  z
    .number()
    .check(z.gte(0), z.lte(100), z.meta({ description: `${description} A percentage with four decimals.` }))

/** A sum of confidences, always written with four decimals. */
export const weight = (description: string) =>
  z.number().check(z.gte(0), z.meta({ description: `${description} Has four decimals.`, ...ADDS_UP }))

/** A digest of 60 bits as lower-case hex digits. */
export const digest = (description: string) =>
  z.string().check(z.regex(/^[0-9a-f]{15}$/), z.meta({ description }))

/** An object of numbers. */
export const numbers = (description: string) =>
  z.record(z.string(), z.number()).check(z.meta({ description }))

/** An object of instants in UTC with microseconds. */
export const preciseInstants = (description: string) =>
  z.record(z.string(), z.iso.datetime({ precision: 6 })).check(z.meta({ description }))

/** A field that is always present, and null when it has no value. */
export const nullable = <Field extends z.core.SomeType>(field: Field) => z.nullable(field)

/** Returns the names of a row's fields that add up: its counts and weights. */
export const totalsOf = (row: RowSchema): string[] =>
  Object.entries(row.shape)
    .filter(([, field]) => z.globalRegistry.get(field)?.['x-aggregation'] === ADDS_UP['x-aggregation'])
    .map(([name]) => name)
