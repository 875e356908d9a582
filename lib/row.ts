import type { Cell, Row } from './db.ts'

/** One field of some rows, with all that a writer needs. */
export type Column = {
  readonly name: string
  readonly isQuoted: boolean
  readonly cells: readonly Cell[]
  /** Whether no cell is null or needs escaping in JSON. */
  readonly isPlain: boolean
}

/** How a field's column travels from Postgres, and how its cells are written. */
export type Field = {
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
const MARK = '\u007f'

const ESCAPED_MARK = `${MARK}D`
/** As a regular expression: replaceAll takes ten times the memory for a text of many marks. */
const ESCAPED_MARKS = new RegExp(ESCAPED_MARK, 'g')

/** Name of the column of a result that holds a field's cells. */
export const columnName = (name: string): string => `cells_${name}`

/**
 * Returns a function that splits the columns of `aggregateColumns` into cells. It throws `TypeError` unless each
 * column has `count` cells.
 */
export const columnReader =
  (fields: readonly Field[]) =>
  (result: Row, count: number): readonly Column[] =>
    fields.map((field) => {
      const { name, isQuoted } = field
      const text = result[columnName(name)] ?? null
      const column = text === null ? { cells: [], isPlain: true } : split(field, text)
      if (column.cells.length !== count) throw new TypeError(`Expected ${count} cells of ${name}`)
      return { name, isQuoted, ...column }
    })

type Cells = Pick<Column, 'cells' | 'isPlain'>

function split({ holdsCommas, isNullable }: Field, text: string): Cells {
  if (holdsCommas) return splitEscaped(text)
  const cells = text.split(',')
  if (!isNullable || !text.includes('null')) return { cells, isPlain: true }
  return { cells: cells.map((cell) => (cell === 'null' ? null : cell)), isPlain: false }
}

function splitEscaped(text: string): Cells {
  const absent = `${MARK}N`
  const cells = text.split(`${MARK},`)
  if (!text.includes(ESCAPED_MARK) && !text.includes(absent)) return { cells, isPlain: !needsEscaping(text) }
  const read = (cell: string): Cell => (cell === absent ? null : cell.replace(ESCAPED_MARKS, MARK))
  return { cells: cells.map(read), isPlain: false }
}

/** Whether JSON escapes a character of a text. Three searches take half as long as one regular expression for all. */
const needsEscaping = (text: string): boolean =>
  text.includes('"') || text.includes('\\') || CONTROL_CHARACTER.test(text)

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes these, and `writeJson` the line separators.
const CONTROL_CHARACTER = /[\u0000-\u001f\u0085\u2028\u2029]/
