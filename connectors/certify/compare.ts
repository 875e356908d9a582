import type { Column, ColumnType, Stream } from '../../site/reference/streams.ts'
import { comparable } from './comparable.ts'
import type { Row, Tables } from './service.ts'

/** A row, a table or a column that a copy lacks, or a row that it has in excess. */
export type Difference = { readonly table: string; readonly kind: 'row' | 'structure'; readonly line: string }

/** The rows of each table, each as a text that equals that of a copied row with the same values. */
export type Texts = ReadonlyMap<string, readonly string[]>

/** Returns the service's rows as texts. */
export const textsOf = (streams: readonly Stream[], tables: Tables): Texts =>
  new Map(
    streams.map(({ name, columns }) => [
      name,
      (tables.get(name) ?? []).map((row) => textOf(columns, (column) => row[column.field])),
    ]),
  )

/** Compares a copy's rows with those of the service, by value. A row that is there twice is one too many. */
export function compare(streams: readonly Stream[], expected: Texts, copy: Copy): Difference[] {
  return streams.flatMap(({ name, kind, columns }): Difference[] => {
    const copied = copy.get(name)
    if (copied === undefined) return kind === 'metric' ? [structure(name, 'The table is missing.')] : []
    const nameOf = (column: Column) => copied.columns.get(plain(column.name))?.name
    const lacking = columns.filter((column) => nameOf(column) === undefined)
    if (lacking.length > 0 && copied.rows.length > 0)
      return lacking.map((column) => structure(name, `The column ${column.name} is missing.`))

    const counts = new Map<string, number>()
    for (const text of expected.get(name) ?? []) counts.set(text, (counts.get(text) ?? 0) + 1)
    for (const row of copied.rows) {
      const text = textOf(columns, (column) => row[nameOf(column) ?? ''])
      counts.set(text, (counts.get(text) ?? 0) - 1)
    }
    return [...counts].flatMap(([text, times]) => {
      const line = `${times > 0 ? 'missing' : 'too many'} ${text}`
      return Array.from({ length: Math.abs(times) }, () => ({ table: name, kind: 'row' as const, line }))
    })
  })
}

const structure = (table: string, line: string): Difference => ({ table, kind: 'structure', line })

/** Returns the differences without the rows that differed before, so that each step answers for its own. */
export function newDifferences(now: readonly Difference[], before: readonly Difference[]): Difference[] {
  const old = new Map<string, number>()
  const keyOf = ({ table, line }: Difference) => `${table} ${line}`
  for (const difference of before) old.set(keyOf(difference), (old.get(keyOf(difference)) ?? 0) + 1)
  return now.filter((difference) => {
    const times = old.get(keyOf(difference)) ?? 0
    old.set(keyOf(difference), times - 1)
    return times <= 0 || difference.kind === 'structure'
  })
}

const textOf = (columns: readonly Column[], read: (column: Column) => unknown): string =>
  JSON.stringify(
    Object.fromEntries(columns.map((column) => [column.name, comparable(column.type, read(column))])),
  )

/** Days that the plan does not reach stay as they were. */
export const carryOver = (
  streams: readonly Stream[],
  { before, now, fromDate }: { readonly before: Tables; readonly now: Tables; readonly fromDate: string },
): Tables =>
  new Map(
    streams.map(({ name, kind }) => {
      const isEarlier = ({ date }: Row) => kind !== 'brands' && String(date) < fromDate
      const served = (now.get(name) ?? []).filter((row) => !isEarlier(row))
      return [name, [...(before.get(name) ?? []).filter(isEarlier), ...served]]
    }),
  )

/** A table of a copy: its rows, and the type of each column. */
export type CopiedTable = {
  readonly rows: readonly Row[]
  /** The columns by their names in lower case without underscores. One of nulls in JSON has no type. */
  readonly columns: ReadonlyMap<string, { readonly name: string; readonly type: string | undefined }>
}

export type Copy = ReadonlyMap<string, CopiedTable>

export type CopyReader = (tables: readonly string[]) => Promise<Copy>

/** A column's name without what naming conventions change: `displayName` is `display_name`. */
export const plain = (name: string): string => name.replaceAll('_', '').toLowerCase()

/** What the users of a warehouse expect, by DuckDB's and PostgreSQL's names, or of JSON. */
const EXPECTED: Readonly<Record<ColumnType, RegExp>> = {
  uuid: /^(uuid|text|char|varchar|character varying|json string)/i,
  text: /^(text|char|varchar|character varying|json string)/i,
  date: /^(date|json string)$/i,
  timestamp: /^(timestamp|json string)/i,
  integer: /^(.*int(eger)?$|decimal|numeric|json number)/i,
  number: /^(double|float|real|decimal|numeric|json number)/i,
  boolean: /^(json )?bool/i,
  json: /^(json|struct|map|text|varchar)/i,
}

/** Returns the columns whose type is not what is expected, such as a date in a text. */
export const unexpectedTypes = (streams: readonly Stream[], copy: Copy): string[] =>
  streams.flatMap(({ name, columns }) => {
    const copied = copy.get(name)?.columns
    return columns.flatMap((column) => {
      const type = copied?.get(plain(column.name))?.type
      return type === undefined || EXPECTED[column.type].test(type)
        ? []
        : [`${name}.${column.name} is ${type}`]
    })
  })
