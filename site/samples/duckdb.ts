import { toCode } from '../formula.ts'
import { type Endpoint, isPaged } from '../reference.ts'
import { addressOf, type SampleRequest } from './request.ts'

/** Writes SQL for the DuckDB command line that loads the pages into a table and selects their rows. */
export function duckdb(request: SampleRequest): string {
  const { endpoint, origin } = request
  const name = endpoint.id.replaceAll('-', '_')
  const paged = isPaged(endpoint)
  return `-- For the duckdb command line. Set the key first: export EXPORT_API_KEY=svc_live_…
INSTALL httpfs;
LOAD httpfs;
CREATE OR REPLACE SECRET export_api (
  TYPE http,
  SCOPE ${text(origin)},
  EXTRA_HTTP_HEADERS MAP {'X-API-Key': getenv('EXPORT_API_KEY')}
);
SET force_download = true; -- no HEAD request before each page
-- DuckDB retries every error, including 401: seven times, for about a minute.
SET http_retries = 7;
SET http_retry_wait_ms = 1000;
SET http_retry_backoff = 2;

CREATE OR REPLACE MACRO ${name}_page(url) AS TABLE FROM read_json(url, columns = {
  data: 'STRUCT(
    ${columns(endpoint)}
  )[]'${paged ? ",\n  pagination: 'STRUCT(hasMore BOOLEAN, nextCursor VARCHAR)'" : ''}
});

-- ${paged ? 'First page.' : 'All rows.'}
SET VARIABLE url = ${text(addressOf(request))};
CREATE OR REPLACE TABLE ${name}_pages AS FROM ${name}_page(getvariable('url'));
${paged ? next(name) : ''}
CREATE OR REPLACE VIEW ${name} AS SELECT unnest(data, max_depth := 2) FROM ${name}_pages;
${selectResult(request, name)}`.trimEnd()
}

const more = (name: string): string => `SELECT bool_and(pagination.hasMore) AS more FROM ${name}_pages;`

const next = (name: string): string => `${more(name)}

-- Next page. Repeat these three statements while \`more\` is true. Another run after the last page changes nothing.
SET VARIABLE cursor = (SELECT pagination.nextCursor FROM ${name}_pages ORDER BY rowid DESC LIMIT 1);
INSERT INTO ${name}_pages
FROM ${name}_page(getvariable('url') || coalesce('&cursor=' || getvariable('cursor'), ''))
WHERE getvariable('cursor') IS NOT NULL;
${more(name)}
`

const TYPES: Readonly<Record<string, string>> = {
  date: 'DATE',
  'date-time': 'TIMESTAMPTZ',
  uuid: 'UUID',
  integer: 'BIGINT',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
}

const columns = ({ fields }: Endpoint): string =>
  fields.map(({ name, type }) => `"${name}" ${TYPES[type] ?? 'VARCHAR'}`).join(',\n    ')

const NOTATION = { sum: (term: string) => `sum(${term})`, field: (name: string) => name, round: 'round' }

function selectResult({ endpoint: { formula, summary } }: SampleRequest, name: string): string {
  if (formula === undefined) return `\nFROM ${name};`
  const { part, whole, per } = formula
  const result = `${toCode(part, NOTATION)} / nullif(${toCode(whole, NOTATION)}, 0) * 100 AS result`
  return `
-- ${summary}: sum over the window, then divide.
SELECT ${per === undefined ? '' : `${per}, `}${result}
FROM ${name}${per === undefined ? '' : `\nGROUP BY ${per}\nORDER BY ${per}`};`
}

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`
