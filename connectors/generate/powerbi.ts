import type { Column, ColumnType, Stream } from '../../site/reference/streams.ts'
import type { Generated } from './generated.ts'

/** Types of columns in Power Query. `Currency.Type` has exactly four decimals. */
const TYPES: Readonly<Record<ColumnType, string>> = {
  uuid: 'type text',
  date: 'type date',
  text: 'type text',
  integer: 'Int64.Type',
  number: 'Currency.Type',
  boolean: 'type logical',
  timestamp: 'type datetimezone',
  json: 'type text',
}

/** Writes the columns of the custom connector for Power Query. */
export const powerbi = (streams: readonly Stream[]): Generated[] => {
  const brands = streams.filter(({ kind }) => kind === 'brands')
  const metrics = streams.filter(({ kind }) => kind === 'metric')
  const text = [
    ...brands.map((stream) => `Brands = ${recordOf(stream, '')};`),
    `Streams = {\n    ${metrics.map((stream) => recordOf(stream, '    ')).join(',\n    ')}\n};`,
  ]
  return [{ path: 'powerbi/ExportApi.pq', block: 'columns', text: text.join('\n\n') }]
}

const recordOf = ({ endpoint, title, key, columns }: Stream, indent: string): string =>
  [
    '[',
    `    Endpoint = "${endpoint}",`,
    `    Title = "${title}",`,
    `    Key = {${key.map((name) => `"${name}"`).join(', ')}},`,
    `    Columns = {`,
    columns.map((column) => `        ${columnOf(column)}`).join(',\n'),
    '    }',
    ']',
  ]
    .join('\n')
    .replaceAll('\n', `\n${indent}`)

const columnOf = ({ name, field, type }: Column): string => `{"${name}", "${field}", ${TYPES[type]}}`
