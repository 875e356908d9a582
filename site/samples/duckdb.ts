import { sql, toCode } from '../../reference/formula.ts'
import { type Endpoint, isPaged, listsChanges } from '../../reference/reference.ts'
import { addressOf, type SampleRequest, storingComment, tableOf, USER_AGENT } from './request.ts'

/** Writes a script for the DuckDB command line that replaces the pulled days in a table. */
export function duckdb(request: SampleRequest): string {
  const { endpoint, origin } = request
  return `-- Requires the duckdb command line 1.5.
-- Set the key first: export EXPORT_API_KEY=svc_live_…
-- Save as pull.sql, then run: duckdb export.duckdb -f pull.sql
.bail on
CREATE OR REPLACE SECRET export_api (
  TYPE http,
  SCOPE ${text(origin)},
  EXTRA_HTTP_HEADERS MAP {
    'X-API-Key': getenv('EXPORT_API_KEY'),
    -- ${USER_AGENT.comment}
    'User-Agent': '${USER_AGENT.value}'
  }
);
SET force_download = true; -- no HEAD request before each page
SET errors_as_json = true; -- shows the message of the service

-- Wait until the service answers. Retries wait 0, 1, 2, 4, 8, 16 and 32 s.
SET http_retries = 7;
SET http_retry_wait_ms = 1000;
SET http_retry_backoff = 2;
FROM read_json(${text(new URL('healthz', origin + endpoint.path).href)});

-- DuckDB retries every error, 401 as well: send the next request once.
SET http_retries = 0;
${isPaged(endpoint) ? pages(request) : allRows(request)}`
}

const allRows = (request: SampleRequest): string => `CREATE OR REPLACE TABLE ${tableOf(request.endpoint)} AS
SELECT unnest(data, max_depth := 2)
FROM read_json(${text(addressOf(request))}, columns = {
  data: 'STRUCT(
    ${columns(request.endpoint)}
  )[]'
});
FROM ${tableOf(request.endpoint)};`

function pages(request: SampleRequest): string {
  const { endpoint } = request
  const table = tableOf(endpoint)
  return `CREATE OR REPLACE TEMP MACRO page(url) AS TABLE
FROM read_json(url, columns = {
  data: 'STRUCT(
    ${columns(endpoint)}
  )[]',
  pagination: 'STRUCT(hasMore BOOLEAN, nextCursor VARCHAR)',
  meta: 'STRUCT(brandId UUID, fromDate TIMESTAMP, toDate TIMESTAMP)'
});

SET VARIABLE url = ${text(addressOf(request))};
CREATE OR REPLACE TEMP TABLE pages AS FROM page(getvariable('url'));

-- Follow nextCursor until hasMore is false. SQL has no loop: write the
-- statements for ${MAX_PAGES} more pages to a file, and run it. After the last
-- page, they do nothing.
SET http_retries = 7;
COPY (SELECT $$
SET VARIABLE cursor =
  (SELECT pagination.nextCursor FROM pages ORDER BY rowid DESC LIMIT 1);
INSERT INTO pages
FROM page(concat(getvariable('url'), '&cursor=', getvariable('cursor')))
WHERE getvariable('cursor') IS NOT NULL;
$$ FROM range(${MAX_PAGES}))
TO 'next_pages.sql' (FORMAT csv, HEADER false, QUOTE '');
.read next_pages.sql
SELECT if(bool_and(pagination.hasMore),
  error('Request a shorter window.'), count(*)) AS pages FROM pages;

${storingComment(endpoint, '--')}
CREATE OR REPLACE TEMP VIEW pulled AS
SELECT meta.brandId AS brand_id, unnest(data, max_depth := 2) FROM pages;
BEGIN;
CREATE TABLE IF NOT EXISTS ${table} AS FROM pulled LIMIT 0;
${listsChanges(endpoint) ? keepLatest(endpoint) : replaceDays(table)}
COMMIT;
SELECT count(*) AS rows FROM pulled;
${printResult(request)}`.trimEnd()
}

const replaceDays = (table: string): string => `DELETE FROM ${table} USING (SELECT meta FROM pages LIMIT 1)
WHERE brand_id = meta.brandId
  AND date BETWEEN meta.fromDate::DATE AND meta.toDate::DATE;
INSERT INTO ${table} FROM pulled;`

function keepLatest(endpoint: Endpoint): string {
  const key = endpoint.primaryKey.join(', ')
  return `MERGE INTO ${tableOf(endpoint)} USING (
  SELECT DISTINCT ON (${key}) * FROM pulled ORDER BY changed_at DESC
) AS latest USING (brand_id, ${key})
WHEN MATCHED THEN UPDATE
WHEN NOT MATCHED THEN INSERT;`
}

/** Pages after the first that the script can load. */
const MAX_PAGES = 200

const TYPES: Readonly<Record<string, string>> = {
  date: 'DATE',
  'date-time': 'TIMESTAMPTZ',
  uuid: 'UUID',
  integer: 'BIGINT',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  object: 'JSON',
}

/** Returns the columns. The times of changes stay text: `since` takes them back as they were received. */
function columns(endpoint: Endpoint): string {
  const types = listsChanges(endpoint) ? { ...TYPES, 'date-time': 'VARCHAR' } : TYPES
  return endpoint.fields.map(({ name, type }) => `"${name}" ${types[type] ?? 'VARCHAR'}`).join(',\n    ')
}

function printResult({ endpoint: { formula, summary } }: SampleRequest): string {
  if (formula === undefined) return ''
  const { part, whole, per } = formula
  const result = `${toCode(part, sql)}
  / nullif(${toCode(whole, sql)}, 0) * 100 AS result`
  return `
-- ${summary}: sum over the window, then divide.
SELECT ${per === undefined ? '' : `${per}, `}${result}
FROM pulled${per === undefined ? '' : `\nGROUP BY ${per}\nORDER BY ${per}`};`
}

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`
