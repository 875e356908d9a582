import { type Notation, toCode } from '../../reference/formula.ts'
import { type Endpoint, isPaged, listsChanges } from '../../reference/reference.ts'
import { parametersOf, type SampleRequest, storingComment, tableOf, USER_AGENT } from './request.ts'
import { insertInto, sqliteColumns, sqliteDefinitions, wrapped } from './sqlite.ts'

/** Writes a program for Python 3.8 or later that needs the standard library only. */
export function python(request: SampleRequest): string {
  const { origin, endpoint } = request
  const paged = isPaged(endpoint)
  const entries = parametersOf(request)
    .map(([name, value]) => `    ${text(name)}: ${text(value)},`)
    .join('\n')
  return `import json, os, sqlite3, time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

URL = ${text(origin + endpoint.path)}
HEADERS = {
    "X-API-Key": os.environ["EXPORT_API_KEY"],  # svc_live_…
    # ${USER_AGENT.comment}
    "User-Agent": "${USER_AGENT.value}",
}${paged ? `\nWINDOW = {\n${entries}\n}` : ''}


def get(parameters):
    """Returns one response. Retries dropped connections, 429 and 503."""
    request = Request(f"{URL}?{urlencode(parameters)}", headers=HEADERS)
    for attempt in range(1, 11):
        try:
            with urlopen(request, timeout=60) as response:
                return json.load(response)
        except HTTPError as error:
            problem = f"{error.code}: {error.read().decode()}"
            if error.code not in (429, 503):
                break
            wait = int(error.headers.get("Retry-After", attempt))
        except (OSError, HTTPException) as error:
            problem, wait = error, attempt
        time.sleep(wait)
    raise SystemExit(problem)


${paged ? PAGES : 'rows = get({})["data"]\n'}
${storingComment(endpoint, '#')}${paged ? '\nbrand = meta["brandId"]' : ''}
${store(endpoint)}
print(len(rows), "rows")
${printResult(request)}`.trimEnd()
}

const PAGES = `# Follow nextCursor until hasMore is false.
page = get(WINDOW)
rows, meta = page["data"], page["meta"]
while page["pagination"]["hasMore"]:
    page = get({**WINDOW, "cursor": page["pagination"]["nextCursor"]})
    rows += page["data"]
`

function store(endpoint: Endpoint): string {
  const table = tableOf(endpoint)
  const indent = '        '
  // SQLite stores no objects.
  const objects = endpoint.fields
    .filter(({ type }) => type === 'object')
    .map(({ name }) => `, ${text(name)}: json.dumps(row[${text(name)}])`)
    .join('')
  const remove = isPaged(endpoint)
    ? `
    db.execute(
        "DELETE FROM ${table} WHERE brand_id = ? AND date BETWEEN ? AND ?",
        (brand, meta["fromDate"][:10], meta["toDate"][:10]),
    )`
    : `
    db.execute("DELETE FROM ${table}")`
  return `with sqlite3.connect("export.db") as db:
    db.execute("""CREATE TABLE IF NOT EXISTS ${table} (
${wrapped(sqliteDefinitions(endpoint), indent)}
    )""")${listsChanges(endpoint) ? '' : remove}
    db.executemany("""${insertInto(endpoint)} (
${wrapped(
  sqliteColumns(endpoint).map(({ name }) => `:${name}`),
  indent,
)}
    )""", ${isPaged(endpoint) ? `[{**row, "brand_id": brand${objects}} for row in rows]` : 'rows'})`
}

const notation = (rows: string): Notation => ({
  sum: (term) => `sum(${term} for row in ${rows})`,
  field: (name) => `row[${text(name)}]`,
  round: (value) => `round(${value})`,
})

function printResult({ endpoint: { formula, summary } }: SampleRequest): string {
  if (formula === undefined) return ''
  const { part, whole, per } = formula
  const sides = (rows: string, indent: string) => `${indent}part = ${toCode(part, notation(rows))}
${indent}whole = ${toCode(whole, notation(rows))}`
  const value = 'part / whole * 100 if whole else None'
  if (per === undefined) {
    return `
# ${summary}: sum over the window, then divide.
${sides('rows', '')}
print(${value})`
  }
  return `
# ${summary}: sum over the window, then divide.
for name in sorted({row[${text(per)}] for row in rows}):
    group = [row for row in rows if row[${text(per)}] == name]
${sides('group', '    ')}
    print(name, ${value})`
}

/** JSON strings are valid Python strings. */
const text = (value: string): string => JSON.stringify(value)
