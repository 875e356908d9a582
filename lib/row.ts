import { type SQL, sql } from 'drizzle-orm'
import type * as z from 'zod/mini'
import type { Cell, Row } from './db.ts'

/** A row's schema: its fields are the columns that are read, in the order in which they are written. */
export type RowSchema = z.ZodMiniObject

/** One field of some rows, with all that a writer needs. */
export type Column = {
  readonly name: string
  readonly isQuoted: boolean
  readonly cells: readonly Cell[]
  /** Whether no cell is null or needs escaping in JSON. */
  readonly isPlain: boolean
}

/** How a field's column travels from Postgres, and how its cells are written. */
type Field = {
  readonly name: string
  /** Free text and objects hold commas, so their separator begins with a mark. */
  readonly holdsCommas: boolean
  readonly isQuoted: boolean
  readonly isNullable: boolean
}

/**
 * Starts every mark in a column whose cells hold commas: a mark and a comma separate cells, a mark and N stand for null,
 * and a mark and D for the character itself. DEL is the one control character that JSON does not escape.
 */
const MARK = { text: '\u007f', sql: sql.raw(`E'\\x7f'`) }

const ESCAPED_MARK = `${MARK.text}D`
/** As a regular expression: replaceAll takes ten times the memory for a text of many marks. */
const ESCAPED_MARKS = new RegExp(ESCAPED_MARK, 'g')

/** Name of the column of a result that holds a field's cells. */
const columnName = (name: string): string => `cells_${name}`

/** The fields of a row. */
export const fieldNames = (row: RowSchema): string[] => Object.keys(row.shape)

/** The columns of {@link aggregateColumns}. */
export const columnNames = (row: RowSchema): string[] => fieldNames(row).map(columnName)

/**
 * SQL that collects each field of the rows of `page` into one text, in their order. Fields of `key` are collected from an
 * array, which costs less than a text for whoever collects the array as well.
 */
export function aggregateColumns(row: RowSchema, key: readonly string[] = []): SQL[] {
  return fieldsOf(row).map((field) => {
    const { name, holdsCommas, isQuoted, isNullable } = field
    const cell = sql`page.${sql.identifier(name)}`
    const alias = sql.identifier(columnName(name))
    if (key.includes(name) && !holdsCommas) return sql`array_to_string(array_agg(${cell}), ',') as ${alias}`
    // Free text may hold any character. The members of objects are named after fields, and are numbers.
    const text =
      holdsCommas && isQuoted ? sql`replace(${cell}, ${MARK.sql}, ${MARK.sql} || 'D')` : sql`${cell}::text`
    const absent = holdsCommas ? sql`${MARK.sql} || 'N'` : sql`'null'`
    return sql`string_agg(${isNullable ? sql`coalesce(${text}, ${absent})` : text}, ${separatorOf(field)}) as ${alias}`
  })
}

/** SQL of the columns of `page`, with their first `sent.found` cells only. */
export function firstCells(row: RowSchema): SQL[] {
  return fieldsOf(row).map((field) => {
    const cells = sql`page.${sql.identifier(columnName(field.name))}`
    const separator = separatorOf(field)
    const first = sql`array_to_string((string_to_array(${cells}, ${separator}))[:sent.found], ${separator})`
    return sql`case when sent.found = page.found then ${cells} else ${first} end as ${sql.identifier(columnName(field.name))}`
  })
}

/**
 * SQL of a number of bytes that the JSON of the rows of `page` does not exceed, from {@link aggregateColumns}. JSON
 * escapes a byte with at most six.
 */
export function mostBytes(row: RowSchema): SQL {
  const labels = JSON.stringify(Object.fromEntries(fieldNames(row).map((name) => [name, ''])))
  const cells = columnNames(row).map((name) => sql`octet_length(page.${sql.identifier(name)})`)
  return sql`coalesce(6 * (${sql.join(cells, sql` + `)}), 0) + ${sql.raw(String(labels.length + 2))} * page.found`
}

/**
 * SQL of the bytes that the row `page` takes as JSON with a separator. The character of the marks counts as if JSON
 * escaped it, because it travels as two.
 */
export const ROW_BYTES: SQL = sql`octet_length(replace(to_json(page)::text, ${MARK.sql}, '\\u007f')) + 2`

const separatorOf = ({ holdsCommas }: Field): SQL => (holdsCommas ? sql`${MARK.sql} || ','` : sql`','`)

/**
 * Returns a function that splits the columns of {@link aggregateColumns} into cells. It throws `TypeError` unless each
 * column has `count` cells.
 */
export function columnReader(row: RowSchema): (result: Row, count: number) => readonly Column[] {
  const fields = fieldsOf(row)
  return (result, count) =>
    fields.map((field) => {
      const { name, isQuoted } = field
      const text = result[columnName(name)] ?? null
      const column = text === null ? { cells: [], isPlain: true } : split(field, text)
      if (column.cells.length !== count) throw new TypeError(`Expected ${count} cells of ${name}`)
      return { name, isQuoted, ...column }
    })
}

type Cells = Pick<Column, 'cells' | 'isPlain'>

function split({ holdsCommas, isNullable }: Field, text: string): Cells {
  if (holdsCommas) return splitEscaped(text)
  const cells = text.split(',')
  if (!isNullable || !text.includes('null')) return { cells, isPlain: true }
  return { cells: cells.map((cell) => (cell === 'null' ? null : cell)), isPlain: false }
}

function splitEscaped(text: string): Cells {
  const absent = `${MARK.text}N`
  const cells = text.split(`${MARK.text},`)
  if (!text.includes(ESCAPED_MARK) && !text.includes(absent)) return { cells, isPlain: !needsEscaping(text) }
  const read = (cell: string): Cell => (cell === absent ? null : cell.replace(ESCAPED_MARKS, MARK.text))
  return { cells: cells.map(read), isPlain: false }
}

/** Whether JSON escapes a character of a text. Three searches take half as long as one regular expression for all. */
const needsEscaping = (text: string): boolean =>
  text.includes('"') || text.includes('\\') || CONTROL_CHARACTER.test(text)

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes exactly these.
const CONTROL_CHARACTER = /[\u0000-\u001f]/

/** The types besides text whose cells are JSON as Postgres writes them. */
const UNQUOTED: ReadonlySet<string> = new Set(['number', 'int', 'boolean', 'record'])

const fieldsOf = (row: RowSchema): Field[] =>
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
