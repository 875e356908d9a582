import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { type Cell, databaseError, type Row } from '../database/db.ts'
import type { RequestLog } from '../request/context.ts'
import { type Field, fieldNames, fieldsOf, type RowSchema } from '../rows/schema.ts'
import type { Size } from '../rows/size.ts'
import type { Column, RowSet } from '../rows/write.ts'

// How rows travel from Postgres to the Worker: SQL that writes them, and next to it what reads them.

/**
 * Starts every mark in a column whose cells hold commas: a mark and a comma separate cells, a mark and N stand for null,
 * and a mark and D for the character itself. DEL is the one control character that JSON does not escape.
 */
const MARK = '\u007f'

const ESCAPED_MARK = `${MARK}D`
/** As a regular expression: replaceAll takes ten times the memory for a text of many marks. */
const ESCAPED_MARKS = new RegExp(ESCAPED_MARK, 'g')

/** Name of the column of a result that holds a field's cells. A prefix tells the rows of one relation from another's. */
const columnName = (name: string, prefix = ''): string => `${prefix}cells_${name}`

/**
 * Returns a function that splits the columns of `aggregateColumns` into cells. It throws `TypeError` unless each
 * column has `count` cells.
 */
export const columnReader =
  (fields: readonly Field[], prefix?: string) =>
  (result: Row, count: number): readonly Column[] =>
    fields.map((field) => {
      const { name, isQuoted } = field
      const text = result[columnName(name, prefix)] ?? null
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
  text.includes('"') || text.includes('\\') || ESCAPED_IN_JSON.test(text)

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes these, and `writeJson` the line separators.
const ESCAPED_IN_JSON = /[\u0000-\u001f\u0085\u2028\u2029]/

/** SQL of {@link MARK}. */
const SQL_MARK = sql.raw(`E'\\x7f'`)

/** The columns of {@link aggregateColumns}. */
export const columnNames = (row: RowSchema, prefix?: string): string[] =>
  fieldNames(row).map((name) => columnName(name, prefix))

/**
 * SQL that collects each field of the rows of `page` into one text, in their order. Fields of `key` are collected from an
 * array, which costs less than a text for whoever collects the array as well.
 */
export function aggregateColumns(row: RowSchema, key: readonly string[] = [], prefix?: string): SQL[] {
  return fieldsOf(row).map((field) => {
    const { name, holdsCommas, isQuoted, isNullable } = field
    const cell = sql`page.${sql.identifier(name)}`
    const alias = sql.identifier(columnName(name, prefix))
    if (key.includes(name) && !holdsCommas) return sql`array_to_string(array_agg(${cell}), ',') as ${alias}`
    // Free text may hold any character. The members of objects are named after fields, and are numbers.
    const text =
      holdsCommas && isQuoted ? sql`replace(${cell}, ${SQL_MARK}, ${SQL_MARK} || 'D')` : sql`${cell}::text`
    const absent = holdsCommas ? sql`${SQL_MARK} || 'N'` : sql`'null'`
    return sql`string_agg(${isNullable ? sql`coalesce(${text}, ${absent})` : text}, ${separatorOf(field)}) as ${alias}`
  })
}

/** SQL of the columns of `page`, with their first `sent.fits` cells only. */
export function firstCells(row: RowSchema): SQL[] {
  return fieldsOf(row).map((field) => {
    const cells = sql`page.${sql.identifier(columnName(field.name))}`
    const separator = separatorOf(field)
    const first = sql`array_to_string((string_to_array(${cells}, ${separator}))[:sent.fits], ${separator})`
    return sql`case when sent.fits = page.fetched then ${cells} else ${first} end as ${sql.identifier(columnName(field.name))}`
  })
}

/**
 * SQL of a number of bytes that the JSON of the rows of `page` does not exceed, from {@link aggregateColumns}. JSON
 * escapes a byte with at most six.
 */
export function mostBytes(row: RowSchema): SQL {
  const labels = JSON.stringify(Object.fromEntries(fieldNames(row).map((name) => [name, ''])))
  const cells = columnNames(row).map((name) => sql`octet_length(page.${sql.identifier(name)})`)
  return sql`coalesce(6 * (${sql.join(cells, sql` + `)}), 0) + ${sql.raw(String(labels.length + 2))} * page.fetched`
}

/**
 * SQL of the bytes that the row `page` takes as JSON with a separator. The character of the marks counts as if JSON
 * escaped it, because it travels as two. So do the line separators, which `lib/rows/write.ts` escapes.
 */
export const ROW_BYTES: SQL = sql`octet_length(regexp_replace(to_json(page)::text, E'[\\x7f\\u0085\\u2028\\u2029]', '\\u0085', 'g')) + 2`

const separatorOf = ({ holdsCommas }: Field): SQL => (holdsCommas ? sql`${SQL_MARK} || ','` : sql`','`)

/** Returns a cell that must have a value; throws `TypeError` when it is null or missing. */
export function required(cell: Cell | undefined): string {
  if (cell == null) throw new TypeError('A cell is missing')
  return cell
}

/** Returns a cell as a count; throws `TypeError` when it is not a whole number. */
export function toCount(cell: Cell | undefined): number {
  const digits = required(cell)
  if (!/^\d+$/.test(digits)) throw new TypeError('Not a count')
  return Number(digits)
}

/** Returns a cell as a boolean; throws `TypeError` when it is not one. */
export function toFlag(cell: Cell | undefined): boolean {
  if (cell !== 'true' && cell !== 'false') throw new TypeError('Not a boolean')
  return cell === 'true'
}

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

type SizedRows = KeyedRow & {
  /** SQL that selects the rows in order. */
  readonly rows: SQL
  readonly size: Size
  /** SQL of the number of rows. */
  readonly total?: SQL | undefined
  /** SQL of how many of the last rows only show that others follow. */
  readonly unsent?: SQL | undefined
}

/**
 * SQL that returns as many rows as a size allows: `columns` to select, and the lateral `joins` that these are of. It
 * reads one row more than a page has, which shows that others follow, and which the reader drops. It counts bytes only when the rows could be too large.
 */
export function sizedRows({ row, key, rows: ordered, size, total, unsent }: SizedRows) {
  const limit = sql.raw(String(size.rows))
  const bytes = sql.raw(String(size.bytes))
  const rows = sql`${ordered}
        limit ${limit} + 1`
  const keys = key.map(
    (name) => sql`array_agg(page.${sql.identifier(name)}) as ${sql.identifier(lastOf(name))}`,
  )
  const last = key.map((name) => {
    const column = sql.identifier(lastOf(name))
    return sql`page.${column}[least(sent.fits, ${limit})]::text as ${column}`
  })
  const hasMore = sql`least(sent.fits, ${limit}) < page.fetched`
  const totals = total === undefined ? [] : [sql`case when ${hasMore} then ${total} end::text as total`]
  const columns = lines([
    sql`sent.fits::text as fits`,
    sql`(${hasMore})::text as has_more`,
    ...firstCells(row),
    ...last,
    ...totals,
  ])
  const joins = sql`
    cross join lateral (
      select
      ${lines([sql`count(*) as fetched`, ...aggregateColumns(row, key), ...keys])}
      from (${rows}
      ) as page
    ) as page
    cross join lateral (
      select least(page.fetched${unsent && sql` - ${unsent}`}, case when ${mostBytes(row)} <= ${bytes} then page.fetched else coalesce((
        select greatest(number - 1, 1)
        from (
          select row_number() over so_far as number, sum(${ROW_BYTES}) over so_far as bytes
          from (${rows}
          ) as page
          window so_far as (rows unbounded preceding)
        ) as page
        where bytes > ${bytes}
        limit 1
      ), page.fetched) end) as fits
      offset 0
    ) as sent`
  return { columns, joins }
}

/** The schema of the rows that are sent, and the columns that order and identify them. */
export type KeyedRow = { readonly row: RowSchema; readonly key: readonly string[] }

/** Names of the columns of {@link sizedRows}. */
export const sizedColumns = ({ row, key, total }: Pick<SizedRows, 'row' | 'key' | 'total'>): string[] => [
  'fits',
  'has_more',
  ...columnNames(row),
  ...key.map(lastOf),
  ...(total === undefined ? [] : ['total']),
]

/** SQL of a list of expressions. */
export const list = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `)

/** SQL of the same with an expression in each line. */
export const lines = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`,\n      `)

/** SQL of a list of columns. */
export const names = (columns: Iterable<string>): SQL =>
  list([...columns].map((name) => sql`${sql.identifier(name)}`))

/** SQL of the key of the last row before, from the placeholders `after_0` …. */
export const keyAfter = (columns: readonly PgColumn[]): SQL =>
  list(
    columns.map(
      (column, index) => sql`${sql.placeholder(`after_${index}`)}::${sql.raw(column.getSQLType())}`,
    ),
  )

/** Returns a column of a table by its name. */
export function columnOf(table: PgTable, name: string): PgColumn {
  const column = getTableColumns(table)[name]
  if (column === undefined) throw new Error(`No column ${name} in ${getTableName(table)}`)
  return column
}
