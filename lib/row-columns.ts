import { type SQL, sql } from 'drizzle-orm'
import { columnName, type Field } from './row.ts'
import { fieldNames, fieldsOf, type RowSchema } from './row-schema.ts'

/** SQL of the character that starts every mark in `lib/row.ts`. */
const MARK = sql.raw(`E'\\x7f'`)

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
    const text = holdsCommas && isQuoted ? sql`replace(${cell}, ${MARK}, ${MARK} || 'D')` : sql`${cell}::text`
    const absent = holdsCommas ? sql`${MARK} || 'N'` : sql`'null'`
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
 * escaped it, because it travels as two. So do the line separators, which `lib/write-rows.ts` escapes.
 */
export const ROW_BYTES: SQL = sql`octet_length(regexp_replace(to_json(page)::text, E'[\\x7f\\u0085\\u2028\\u2029]', '\\u0085', 'g')) + 2`

const separatorOf = ({ holdsCommas }: Field): SQL => (holdsCommas ? sql`${MARK} || ','` : sql`','`)
