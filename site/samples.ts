import {
  addressOf,
  curl,
  fileOf,
  parametersOf,
  RATE_LIMIT_COMMENT,
  type SampleRequest,
  USER_AGENT,
} from './curl-sample.ts'
import { isDays } from './reference/endpoint.ts'

export type Language = 'curl' | 'python' | 'javascript' | 'sql'

/** The languages of the code samples, in the order of their tabs. Each sample prints all rows of a window, or days. */
export const SAMPLES: Readonly<
  Record<Language, { readonly label: string; readonly write: (request: SampleRequest) => string }>
> = {
  curl: { label: 'curl', write: curl },
  python: { label: 'Python', write: python },
  javascript: { label: 'JavaScript', write: javascript },
  sql: { label: 'SQL', write: duckdb },
}

function python(request: SampleRequest): string {
  const entries = parametersOf(request).map(([name, value]) => `${text(name)}: ${text(value)}`)
  return `# Save as pull.py, then run: python3 pull.py
# Set the key first: export EXPORT_API_KEY=svc_live_…
import json, os, re, time
from urllib.error import HTTPError
from urllib.parse import unquote, urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

class NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_):
        """Follows no redirect, which would send the key to another address."""

key = os.environ.get("EXPORT_API_KEY", "").strip()
if not re.fullmatch("[!-~]+", key):
    raise SystemExit("Set EXPORT_API_KEY to your API key.")
url = "${request.origin}${request.endpoint.path}"
parameters = {${entries.join(', ')}}
headers = {
    "X-API-Key": key,
    # ${RATE_LIMIT_COMMENT}
    "Authorization": f"Bearer {key}",
    "User-Agent": "${USER_AGENT}",
}
opener = build_opener(NoRedirects)
while True:
    try:
        request = Request(f"{url}?{urlencode(parameters)}", headers=headers)
        with opener.open(request) as response:
            page = json.load(response)
    except HTTPError as error:
        if error.code == 429:
            time.sleep(int(error.headers.get("Retry-After", 12)))
            continue
        # A gateway can repeat the key.
        answer = re.sub(re.escape(key), "<API key>", unquote(error.read()), flags=re.I)
        answer = re.sub(r"[\\x00-\\x1f\\x7f-\\x9f]", " ", answer)[:1000]
        raise SystemExit(f"{error.code}: {answer}")
    for row in page["data"]:
        print(json.dumps(row))
    pagination = page.get("pagination", {})
    if not pagination.get("hasMore"):
        break
    parameters["cursor"] = pagination["nextCursor"]${isDays(request.endpoint) ? '\n    parameters.pop("since", None)' : ''}`
}

/** JSON strings are valid Python strings. */
const text = (value: string): string => JSON.stringify(value)

function javascript(request: SampleRequest): string {
  return `// Requires Node 20, Deno 2.2 or Bun 1.4, or later.
// Save as pull.mjs, then run: node pull.mjs
// Set the key first: export EXPORT_API_KEY=svc_live_…
const key = (process.env.EXPORT_API_KEY ?? '').trim()
if (!/^[!-~]+$/.test(key)) {
  console.error('Set EXPORT_API_KEY to your API key.')
  process.exit(1)
}
const url = new URL('${addressOf(request)}')
const headers = {
  'X-API-Key': key,
  // ${RATE_LIMIT_COMMENT}
  Authorization: \`Bearer \${key}\`,
  'User-Agent': '${USER_AGENT}',
}
while (true) {
  const response = await fetch(url, { headers, redirect: 'manual' }) // sends the key to this address only
  if (response.status === 429) {
    const seconds = Number(response.headers.get('Retry-After') ?? 12)
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds))
    continue
  }
  if (!response.ok) {
    // A gateway can repeat the key.
    const text = (await response.text()).replace(/%[2-7][\\da-f]/gi, decodeURIComponent)
    const answer = text.replace(new RegExp(key.replace(/\\W/g, '\\\\$&'), 'gi'), '<API key>')
    console.error(\`\${response.status}: \${answer.replace(/\\p{Cc}/gu, ' ').slice(0, 1000)}\`)
    process.exit(1)
  }
  const page = await response.json()
  for (const row of page.data) console.log(JSON.stringify(row))
  if (!page.pagination?.hasMore) break
  url.searchParams.set('cursor', page.pagination.nextCursor)${isDays(request.endpoint) ? "\n  url.searchParams.delete('since')" : ''}
}`
}

/** Without types, DuckDB takes texts such as 0012 for numbers. Identifiers and times stay texts. */
const SQL_TYPES: Readonly<Record<string, string>> = {
  date: 'date',
  integer: 'bigint',
  number: 'double',
  boolean: 'boolean',
  object: 'json',
  array: 'json',
}

function duckdb(request: SampleRequest): string {
  return `-- Requires the duckdb command line 1.5.
-- Save as pull.sql, then run: duckdb -f pull.sql
-- Set the key first: export EXPORT_API_KEY=svc_live_…
.bail on
.mode jsonlines
SET VARIABLE api_key = nullif(regexp_extract(getenv('EXPORT_API_KEY'), '^\\s*([!-~]+)\\s*$', 1), '');
CREATE SECRET export_api (
  TYPE http,
  SCOPE '${request.origin}/',
  EXTRA_HTTP_HEADERS MAP {
    'X-API-Key': coalesce(getvariable('api_key'), error('Set EXPORT_API_KEY to your API key.')),
    -- ${RATE_LIMIT_COMMENT}
    'Authorization': 'Bearer ' || getvariable('api_key'),
    'User-Agent': '${USER_AGENT}'
  }
);
SET force_download = true; -- no HEAD request first
SET errors_as_json = true; -- shows the message of the service
SET http_retries = 0; -- DuckDB retries every error, 401 as well
${isDays(request.endpoint) ? firstDays(request) : allRows(request)}`
}

const columnsOf = ({ endpoint }: SampleRequest, between: string): string[] =>
  endpoint.fields.map(({ name, type }) => `"${name}"${between}${SQL_TYPES[type] ?? 'varchar'}`)

const allRows = (request: SampleRequest): string => `FROM read_json(
  '${fileOf(request, 'ndjson')}',
  format = 'newline_delimited',
  columns = {
    ${columnsOf(request, ": '").join("',\n    ")}'
  }
);`

/** SQL cannot follow cursors. */
const firstDays = (request: SampleRequest): string => `-- The first page.
SELECT unnest(data, max_depth := 2) FROM read_json(
  '${fileOf(request, 'ndjson')}',
  format = 'unstructured',
  columns = {
    data: 'struct(
      ${columnsOf(request, ' ').join(',\n      ')}
    )[]'
  }
);`
