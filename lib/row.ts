import { type SQL, sql } from 'drizzle-orm'
import type * as z from 'zod/mini'
import { asCells, type Cell, type Row } from './db.ts'

/** A row's schema: its fields are the columns that are read, in the order in which they are written. */
export type RowSchema = z.ZodMiniObject

/** A page's cells by column: `columns[field][row]`. */
export type Columns = readonly (readonly Cell[])[]

/** How a field's column travels from Postgres, and how its cells are written. */
type Field = {
  readonly name: string
  /** Free text may hold any character, so its column travels as a JSON array; other columns as text with commas. */
  readonly isFreeText: boolean
  readonly isQuoted: boolean
  readonly isNullable: boolean
}

/** Column of a result that holds a field's cells. */
const columnOf = (name: string): string => `cells_${name}`

/** The fields of a row. */
export const fieldNames = (row: RowSchema): string[] => Object.keys(row.shape)

/** The columns of {@link aggregateColumns}. */
export const columnNames = (row: RowSchema): string[] => fieldNames(row).map(columnOf)

/** SQL that collects each field of the rows of `page` into one text, in their order. */
export function aggregateColumns(row: RowSchema): SQL[] {
  return fieldsOf(row).map(({ name, isFreeText, isNullable }) => {
    const cell = sql`page.${sql.identifier(name)}`
    const alias = sql.identifier(columnOf(name))
    if (isFreeText) return sql`json_agg(${cell})::text as ${alias}`
    const text = isNullable ? sql`coalesce(${cell}::text, 'null')` : sql`${cell}::text`
    return sql`string_agg(${text}, ',') as ${alias}`
  })
}

/**
 * Returns a function that splits the columns of {@link aggregateColumns} into cells. It throws `TypeError` unless each
 * column has `count` cells.
 */
export function columnReader(row: RowSchema): (result: Row, count: number) => Columns {
  const fields = fieldsOf(row)
  return (result, count) =>
    fields.map((field) => {
      const text = result[columnOf(field.name)] ?? null
      const cells = text === null ? [] : split(field, text)
      if (cells.length !== count) throw new TypeError(`Expected ${count} cells of ${field.name}`)
      return cells
    })
}

function split({ isFreeText, isNullable }: Field, text: string): readonly Cell[] {
  if (isFreeText) return asCells(JSON.parse(text))
  const cells = text.split(',')
  return isNullable ? cells.map((cell) => (cell === 'null' ? null : cell)) : cells
}

/**
 * Returns a function that writes the first `count` rows as JSON objects with commas between them. Numbers and booleans
 * keep the text that Postgres wrote, so a rate keeps its four decimals.
 */
export function jsonWriter(row: RowSchema): (columns: Columns, count: number) => string {
  const fields = fieldsOf(row).map(({ name, isQuoted }, index) => ({
    label: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    write: isQuoted ? quote : (cell: Cell) => cell,
  }))
  return (columns, count) => {
    let json = ''
    for (let index = 0; index < count; index += 1) {
      if (index > 0) json += ','
      for (const [field, { label, write }] of fields.entries()) {
        json += label + write(columns[field]?.[index] ?? null)
      }
      json += '}'
    }
    return json
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that JSON escapes.
const ESCAPED = /["\\\u0000-\u001f]/

const quote = (cell: Cell): Cell =>
  cell === null ? null : ESCAPED.test(cell) ? JSON.stringify(cell) : `"${cell}"`

const fieldsOf = (row: RowSchema): Field[] =>
  Object.entries(row.shape).map(([name, schema]) => {
    const { def } = schema._zod
    const isNullable = isNullableDef(def)
    const inner = isNullable ? def.innerType._zod.def : def
    const isQuoted = inner.type === 'string'
    return { name, isQuoted, isNullable, isFreeText: isQuoted && !('format' in inner) }
  })

const isNullableDef = (def: z.core.$ZodTypeDef): def is z.core.$ZodNullableDef => def.type === 'nullable'
