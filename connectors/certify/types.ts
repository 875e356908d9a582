import type { ColumnType, Stream } from '../../site/reference/streams.ts'
import { type Copy, plain } from './compare.ts'

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
