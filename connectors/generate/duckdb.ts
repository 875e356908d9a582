import { sql } from '../../site/reference/formula.ts'
import type { ColumnType, Stream } from '../../site/reference/streams.ts'
import { figuresOf, toSql } from './formulas.ts'
import type { Generated } from './generated.ts'

// Rates and weights have four decimals.
const TYPES: Readonly<Partial<Record<ColumnType, string>>> = {
  text: 'varchar',
  integer: 'bigint',
  number: 'decimal(18, 4)',
}

/** Writes DuckDB's macros: one for the brands, one for each metric, and one for each window formula. */
export const duckdb = (streams: readonly Stream[]): Generated[] => {
  const readers = streams.filter(({ kind }) => kind !== 'changes').map(reader)
  const formulas = figuresOf(streams).map(
    ({ name, description, columns, formula }) => `-- ${description}
create or replace macro ${name}(${columns.join(', ')}) as
  ${toSql(formula, sql)};
`,
  )
  return [{ path: 'duckdb/export_api.sql', block: 'macros', text: [...readers, ...formulas].join('\n') }]
}

function reader({ name, endpoint, kind, columns }: Stream): string {
  const own = columns.filter((column) => column.name !== 'brand_id')
  const fields = own
    .map(({ field, type }) => `"${field}": '${TYPES[type] ?? type}'`)
    .join(', ')
    .replace(/(.{60,}?), (?=")/g, '$1,\n  ')
  const renamed = own.flatMap(({ name, field }) => (name === field ? [] : [`"${field}" as ${name}`]))
  return kind === 'metric'
    ? `create or replace macro export_api_${name}(brand_ids, from_date := null, to_date := null) as table
from export_api_rows('${endpoint}', brand_ids, from_date, to_date, {
  ${fields}
});
`
    : `create or replace macro export_api_${name}() as table
select * rename (${renamed.join(', ')})
from read_json(
  concat(getvariable('export_api_url'), '/api/export/v1/${endpoint}?format=ndjson'),
  format = 'newline_delimited',
  columns = {
    ${fields.replaceAll('\n', '\n  ')}
  }
);
`
}
