import type { Column, ColumnType, Stream } from '../../site/reference/streams.ts'
import type { Generated } from './generated.ts'

const FOLDER = 'singer/tap-export-api'

/** What a view unnests: the array in the documents of a table. */
type Source = {
  readonly table: string
  readonly array: 'brands' | 'rows'
  readonly fields: readonly Column[]
}

type Engine = {
  readonly about: string
  /** Statements before the views. Default: creates their schema. */
  readonly start?: (tables: readonly Stream[]) => string
  readonly types: Readonly<Record<ColumnType, string>>
  /** Returns the columns of the rows, and the source of documents and rows, named `doc` and `r`. */
  readonly unnest: (source: Source, typeOf: (field: Column) => string) => { select: string; from: string }
  readonly end?: string
}

const SQL: Engine['types'] = {
  uuid: 'uuid',
  text: 'text',
  date: 'date',
  timestamp: 'timestamp',
  integer: 'bigint',
  number: 'decimal(18, 4)',
  boolean: 'boolean',
  json: 'json',
}

const NOT_RUN = 'Not run on the engine.'

const list = (fields: readonly Column[], text: (field: Column) => string): string =>
  fields.map(text).join(', ')

/** Reads the documents in the files of target-jsonl. */
const fromFiles = (tables: readonly Stream[]): string => `create schema if not exists export_api_days;
-- The latest document of each day. A run that is killed can leave half a line.
create or replace macro export_api_days.documents(stream) as table
select * from read_json('export/*.jsonl', format = 'newline_delimited', ignore_errors = true, filename = true,
  maximum_object_size = 67108864, columns = {brand_id: 'UUID', date: 'DATE', changed_at: 'TIMESTAMP', causes: 'JSON',
  digest: 'VARCHAR', row_count: 'BIGINT', rows: 'JSON', brands: 'JSON'})
where starts_with(parse_filename(filename), stream || '-') and coalesce(rows, brands) is not null
qualify row_number() over (partition by brand_id, date order by changed_at desc, filename desc) = 1;
${tables.map(({ name }) => `create or replace view export_api_days.${name} as from export_api_days.documents('${name}');`).join('\n')}
create schema if not exists export_api;`

const ENGINES: Readonly<Record<string, Engine>> = {
  bigquery: {
    about: `${NOT_RUN} rows and brands are arrays of JSON.`,
    types: { ...SQL, uuid: 'string', text: 'string', integer: 'int64', number: 'numeric', boolean: 'bool' },
    unnest: ({ table, array, fields }, typeOf) => ({
      select: list(
        fields,
        (field) => `cast(json_value(r, '$.${field.name}') as ${typeOf(field)}) as ${field.name}`,
      ),
      from: `export_api_days.${table} as doc, unnest(doc.\`${array}\`) as r`,
    }),
  },
  clickhouse: {
    about: 'Tables of the engine ReplacingMergeTree, with rows and brands as String.',
    start: () => 'create database if not exists export_api;',
    types: {
      ...SQL,
      uuid: 'UUID',
      text: 'String',
      timestamp: 'String',
      integer: 'Int64',
      number: 'Decimal(18, 4)',
      boolean: 'Bool',
    },
    unnest: ({ table, array, fields }, typeOf) => ({
      select: list(fields, ({ name }) => `r.${name} as ${name}`),
      from: `export_api_days.${table} as doc final array join JSONExtract(${array}, 'Array(Tuple(${list(
        fields,
        (field) => `${field.name} ${field.nullable ? `Nullable(${typeOf(field)})` : typeOf(field)}`,
      )}))') as r`,
    }),
  },
  duckdb: {
    about: 'Run it in the folder that has the folder export of target-jsonl.',
    start: fromFiles,
    types: SQL,
    unnest: ({ table, array, fields }, typeOf) => ({
      select: `unnest(from_json(${array}, '[{${list(fields, (field) => `"${field.name}": "${typeOf(field)}"`)}}]'), recursive := true)`,
      from: `export_api_days.${table} as doc`,
    }),
  },
  postgres: {
    about: 'target-postgres: rows and brands are jsonb.',
    types: { ...SQL, timestamp: 'timestamptz' },
    unnest: ({ table, array, fields }, typeOf) => ({
      select: 'r.*',
      from: `export_api_days.${table} as doc cross join jsonb_to_recordset(${array}) as r (${list(fields, (field) => `${field.name} ${typeOf(field)}`)})`,
    }),
  },
  redshift: {
    about: `${NOT_RUN} rows and brands are SUPER.`,
    types: { ...SQL, uuid: 'varchar(36)', text: 'varchar(65535)', timestamp: 'timestamptz' },
    unnest: ({ table, array, fields }, typeOf) => ({
      select: list(fields, (field) => `r.${field.name}::${typeOf(field)} as ${field.name}`),
      from: `export_api_days.${table} as doc, doc.${array} as r`,
    }),
    end: ' with no schema binding',
  },
  snowflake: {
    about: `${NOT_RUN} target-snowflake: rows and brands are VARIANT.`,
    types: { ...SQL, uuid: 'text', timestamp: 'timestamp_tz' },
    unnest: ({ table, array, fields }, typeOf) => ({
      select: list(fields, (field) => `r.value:${field.name}::${typeOf(field)} as ${field.name}`),
      from: `export_api_days.${table} as doc, lateral flatten(input => doc."${array.toUpperCase()}") as r`,
    }),
  },
}

/** Writes the metrics of Singer's tap, and the views that unnest its documents. */
export function views(streams: readonly Stream[]): Generated[] {
  const tables = streams.filter(({ kind }) => kind !== 'changes')
  const metrics = tables.filter(({ kind }) => kind === 'metric')
  const endpoints = metrics.map(({ endpoint }) => `"${endpoint}"`).join(', ')
  return [
    { path: `${FOLDER}/tap_export_api/tap.py`, block: 'metrics', text: `METRICS = [${endpoints}]` },
    ...Object.entries(ENGINES).map(([name, engine]) => ({
      path: `${FOLDER}/views/${name}.sql`,
      text: [
        `-- Generated by \`npm run openapi\`. The rows of the documents in export_api_days. ${engine.about}`,
        engine.start?.(tables) ?? 'create schema if not exists export_api;',
        ...tables.map((stream) => viewOf(engine, stream)),
        '',
      ].join('\n'),
    })),
  ]
}

function viewOf({ unnest, types, end = '' }: Engine, { name, kind, columns }: Stream): string {
  const isBrands = kind === 'brands'
  const { select, from } = unnest(
    {
      table: name,
      array: isBrands ? 'brands' : 'rows',
      // A filter by the date of the document reads only these documents.
      fields: columns.filter((column) => isBrands || !['brand_id', 'date'].includes(column.name)),
    },
    ({ type }) => types[type],
  )
  return `create or replace view export_api.${name} as select ${isBrands ? '' : 'doc.brand_id, doc.date, '}${select}
from ${from}${isBrands ? '' : '\nwhere doc.brand_id in (select id from export_api.brands)'}${end};`
}
