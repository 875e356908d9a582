import { sql } from '../../site/reference/formula.ts'
import type { ColumnType, Stream } from '../../site/reference/streams.ts'
import { figuresOf, toSql } from './formulas.ts'
import type { Generated } from './generated.ts'

// Rates and weights have four decimals.
const TYPES: Readonly<Record<ColumnType, string>> = {
  uuid: 'uuid',
  date: 'date',
  text: 'varchar',
  integer: 'bigint',
  number: 'decimal(18, 4)',
  boolean: 'boolean',
  timestamp: 'timestamp',
  json: 'json',
}

/** Writes DuckDB's macros: one for each stream, and one for each window formula. */
export const duckdb = (streams: readonly Stream[]): Generated[] => [
  {
    path: 'duckdb/export_api.sql',
    block: 'macros',
    text: [
      ...streams.map(readMacro),
      ...figuresOf(streams).map(
        ({ name, description, columns, formula }) => `-- ${description}
create or replace macro ${name}(${columns.join(', ')}) as
  ${toSql(formula, sql)};
`,
      ),
    ].join('\n'),
  },
]

const PARAMETERS: Readonly<Record<Stream['kind'], readonly string[]>> = {
  brands: [],
  metric: ['from_date', 'to_date'],
  changes: ['since'],
}

function readMacro({ name, endpoint, kind, title, columns }: Stream): string {
  const optional = PARAMETERS[kind]
  const isBrands = kind === 'brands'
  const parameters = [...(isBrands ? [] : ['brand_ids']), ...optional.map((each) => `${each} := null`)]
  const values = ['from_date', 'to_date', 'since'].map((each) => (optional.includes(each) ? each : 'null'))
  const source = isBrands
    ? `concat(rtrim(getvariable('export_api_url'), '/'), '/api/export/v1/${endpoint}?format=ndjson')`
    : `export_api_files('${endpoint}', brand_ids, ${values.join(', ')})`
  const fields = columns
    .filter((column) => column.name !== 'brand_id')
    .map((column) => `"${column.field}": '${TYPES[column.type]}'`)
  const renamed = columns.flatMap(({ name, field }) => (name === field ? [] : [`"${field}" as ${name}`]))
  const selected = isBrands
    ? `* rename (${renamed.join(', ')})`
    : `cast(regexp_extract(filename, 'brandId=([^&]*)', 1) as uuid) as brand_id, *`
  return `-- ${title}.
create or replace macro export_api_${name}(${parameters.join(', ')}) as table
select ${selected}
from read_json(
  ${source},
  format = 'newline_delimited',
  columns = {
    ${inLines(fields).join(',\n    ')}
  }
);
`
}

/** Joins the fields that fit in a line. */
function inLines(fields: readonly string[]): string[] {
  const lines: string[] = []
  for (const field of fields) {
    const longer = [...lines.slice(-1), field].join(', ')
    if (longer.length > 100) lines.push(field)
    else lines.splice(-1, 1, longer)
  }
  return lines
}
