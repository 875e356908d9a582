import { write } from '../formula.ts'
import { type Endpoint, isPaged } from '../reference.ts'
import { addressOf, type RequestContext } from './request.ts'

/** SQL for DuckDB's command line: pages into a table, rows out of it. */
export function duckdb(asked: RequestContext): string {
  const { endpoint, origin } = asked
  const name = endpoint.id.replaceAll('-', '_')
  const paged = isPaged(endpoint)
  return `-- For the duckdb command, which takes the key from the environment: export EXPORT_API_KEY=svc_live_…
INSTALL httpfs;
LOAD httpfs;
CREATE OR REPLACE SECRET export_api (
  TYPE http,
  SCOPE ${text(origin)},
  EXTRA_HTTP_HEADERS MAP {'X-API-Key': getenv('EXPORT_API_KEY')}
);
SET force_download = true; -- one request a page, without a HEAD before it
-- DuckDB asks again after every refusal, a wrong key's too: seven times, over a clock minute.
SET http_retries = 7;
SET http_retry_wait_ms = 1000;
SET http_retry_backoff = 2;

CREATE OR REPLACE MACRO ${name}_page(url) AS TABLE FROM read_json(url, columns = {
  data: 'STRUCT(
    ${columns(endpoint)}
  )[]'${paged ? ",\n  pagination: 'STRUCT(hasMore BOOLEAN, nextCursor VARCHAR)'" : ''}
});

-- ${paged ? 'The first page.' : 'All rows, in one answer.'}
SET VARIABLE url = ${text(addressOf(asked))};
CREATE OR REPLACE TABLE ${name}_pages AS FROM ${name}_page(getvariable('url'));
${paged ? next(name) : ''}
CREATE OR REPLACE VIEW ${name} AS SELECT unnest(data, max_depth := 2) FROM ${name}_pages;
${figure(asked, name)}`.trimEnd()
}

const more = (name: string): string => `SELECT bool_and(pagination.hasMore) AS more FROM ${name}_pages;`

const next = (name: string): string => `${more(name)}

-- The next page. Run these three again and again while \`more\` is true; once too often does no harm.
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

const NOTATION = { sum: (inner: string) => `sum(${inner})`, field: (name: string) => name, round: 'round' }

function figure({ endpoint: { formula, summary } }: RequestContext, name: string): string {
  if (formula === undefined) return `\nFROM ${name};`
  const { part, whole, per } = formula
  const figure = `${write(part, NOTATION)} / nullif(${write(whole, NOTATION)}, 0) * 100 AS figure`
  return `
-- ${summary} of the window: add up, then divide.
SELECT ${per === undefined ? '' : `${per}, `}${figure}
FROM ${name}${per === undefined ? '' : `\nGROUP BY ${per}\nORDER BY ${per}`};`
}

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`
