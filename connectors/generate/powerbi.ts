import type { ColumnType, Stream } from '../../site/reference/streams.ts'
import type { Generated } from './generated.ts'

/** Types of columns in Power Query. `Currency.Type` has exactly four decimals. */
const TYPES: Readonly<Partial<Record<ColumnType, string>>> = {
  date: 'type date',
  integer: 'Int64.Type',
  number: 'Currency.Type',
  boolean: 'type logical',
  timestamp: 'type datetimezone',
}

/** Writes the columns of each table for Power Query. */
export const powerbi = (streams: readonly Stream[]): Generated[] => {
  const tables = streams
    .filter(({ kind }) => kind !== 'changes')
    .map(({ name, columns }) => {
      const typed = columns.map(({ field, type }) => `{"${field}", ${TYPES[type] ?? 'type text'}}`)
      return `        ${name} = {\n            ${typed.join(',\n            ')}\n        }`
    })
  return [
    {
      path: 'powerbi/ExportApi.pq',
      block: 'columns',
      text: `    Columns = [\n${tables.join(',\n')}\n    ],`,
    },
  ]
}
