import { readStreams, type Stream } from '../../site/reference/streams.ts'
import { EMPTIED } from './answers.ts'

const TYPES = {
  uuid: 'varchar',
  date: 'date',
  text: 'varchar',
  integer: 'bigint',
  number: 'double',
  boolean: 'boolean',
  timestamp: 'timestamptz',
  json: 'json',
} as const

const streams = readStreams()

/**
 * SQL of DuckDB that makes the copies `airbyte` and `singer` of the copy `dlt`, with rows that a view has to hide. The
 * pipeline of dlt has loaded that one as `export_api`.
 */
export const copiesOfDlt = (): string =>
  [
    'create schema dlt; create schema airbyte; create schema singer',
    ...streams.map(({ name }) => `create view dlt.${name} as from export_api.${name}`),
    ...streams.map((stream) => (isMetric(stream) ? airbyteTable(stream) : airbyteOtherTable(stream))),
    ...streams.map((stream) => (isMetric(stream) ? singerTable(stream) : singerOtherTable(stream))),
  ].join(';\n')

/** SQL of DuckDB that exports the tables of a copy to the files `<folder>/<loader>.<stream>.json`. */
export const exportsOf = (folder: string, loader: string): string =>
  streams
    .map(({ name }) => `copy ${loader}.${name} to '${folder}/${loader}.${name}.json' (array true)`)
    .join(';\n')

const POSTGRES_TYPES = { ...TYPES, uuid: 'uuid', number: 'double precision', json: 'jsonb' } as const

/** SQL of PostgreSQL that makes a table of a copy from its rows as JSON, the parameter. */
export function importOf({ name, kind, columns }: Stream, loader: string): string {
  const added = {
    airbyte: `${kind === 'metric' ? 'changed_at timestamptz, ' : ''}_airbyte_extracted_at timestamptz`,
    singer: 'day_row bigint, _sdc_deleted_at timestamptz',
  }[loader]
  const fields = columns.map((column) => `${column.name} ${POSTGRES_TYPES[column.type]}`)
  return `create table ${loader}.${name} as select * from json_to_recordset($1) as row(${[...fields, added]})`
}

const isMetric = ({ kind }: Stream): boolean => kind === 'metric'

/** Current rows, rows of an earlier version of each day, the rows of a run that was repeated, and an emptied day. */
function airbyteTable({ name, endpoint, columns, key, totals: [count = ''] }: Stream): string {
  const texts = columns.filter((column) => column.type === 'text' && key.includes(column.name))
  const renamed = texts.map((column) => `'old ' || ${column.name} as ${column.name}`)
  const stamped = `(select loaded.*, listed.changed_at, now() as _airbyte_extracted_at
    from dlt.${name} as loaded join dlt.changes as listed using (brand_id, date) where endpoint = '${endpoint}')`
  const earlier = `changed_at - interval 1 hour as changed_at, ${count} + 1 as ${count}`
  return `create table airbyte.${name} as
    select * from ${stamped}
    union all select * replace (${[earlier, ...renamed].join(', ')}) from ${stamped}
    union all select * replace (${earlier}) from ${stamped}
    union all select * replace (_airbyte_extracted_at - interval 1 minute as _airbyte_extracted_at, ${count} + 2 as ${count}) from ${stamped}
    union all select * replace (date '${EMPTIED}' as date, changed_at - interval 1 hour as changed_at)
      from (select * from ${stamped} order by date limit 1)`
}

const airbyteOtherTable = ({ name, kind }: Stream): string => `create table airbyte.${name} as
  select *, now() as _airbyte_extracted_at from dlt.${name}
  ${kind === 'changes' ? `union all select * replace (rows + 1 as rows, changed_at - interval 2 hour as changed_at), now() from dlt.changes` : ''}`

/** Numbered rows; a tombstone after the last row of each day, a row that lost its tombstone, and an emptied day. */
function singerTable({ name, columns, key }: Stream): string {
  const numbered = `(select * replace (cast(date as varchar) as date),
    row_number() over (partition by brand_id, date order by ${key}) as day_row, cast(null as varchar) as _sdc_deleted_at
    from dlt.${name})`
  const nulls = columns
    .filter((column) => !['brand_id', 'date'].includes(column.name))
    .map((column) => `null as ${column.name}`)
  const last = `(select * from ${numbered} qualify day_row = max(day_row) over (partition by date))`
  return `create table singer.${name} as
    select * from ${numbered}
    union all select * replace (day_row + 1 as day_row, '2026-11-22T00:00:00Z' as _sdc_deleted_at, ${nulls}) from ${last}
    union all select * replace (day_row + 2 as day_row) from ${last}
    union all select * replace ('${EMPTIED}' as date, 1 as day_row) from (select * from ${last} limit 1)`
}

const singerOtherTable = ({ name, kind }: Stream): string =>
  kind === 'changes'
    ? `create table singer.changes as select * replace (cast(date as varchar) as date) from dlt.changes`
    : `create table singer.${name} as
      select *, cast(null as varchar) as _sdc_deleted_at from dlt.${name}
      union all select * replace ('00000000-0000-0000-0000-000000000000' as id), '2026-11-22T00:00:00Z' from dlt.${name}`
