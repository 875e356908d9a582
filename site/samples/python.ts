import { type Notation, toCode } from '../formula.ts'
import { isPaged } from '../reference.ts'
import { parametersOf, type SampleRequest } from './request.ts'

/** Writes a program for Python 3.8 or later that needs the standard library only. */
export function python(request: SampleRequest): string {
  const { origin, endpoint } = request
  const paged = isPaged(endpoint)
  const entries = parametersOf(request)
    .map(([name, value]) => `    ${text(name)}: ${text(value)},`)
    .join('\n')
  return `import json, os, time
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

URL = ${text(origin + endpoint.path)}
KEY = os.environ["EXPORT_API_KEY"]  # svc_live_…


def get(parameters):
    """Returns one response. Retries 429 and 503 after Retry-After seconds."""
    request = Request(f"{URL}?{urlencode(parameters)}", headers={"X-API-Key": KEY})
    for attempt in range(10):
        try:
            with urlopen(request, timeout=60) as response:
                return json.load(response)
        except HTTPError as error:
            if error.code not in (429, 503) or attempt == 9:
                raise SystemExit(f"{error.code}: {json.load(error)['error']}")
            time.sleep(int(error.headers["Retry-After"]))

${paged ? PAGES : ''}
rows = ${paged ? `list(pull({\n${entries}\n}))` : 'get({})["data"]'}
print(len(rows), "rows")
${printResult(request)}`.trimEnd()
}

const PAGES = `
def pull(parameters):
    """Yields all rows of the window: follows nextCursor until hasMore is false."""
    while True:
        page = get(parameters)
        yield from page["data"]
        if not page["pagination"]["hasMore"]:
            return
        parameters = {**parameters, "cursor": page["pagination"]["nextCursor"]}

`

const notation = (rows: string): Notation => ({
  sum: (term) => `sum(${term} for row in ${rows})`,
  field: (name) => `row[${text(name)}]`,
  round: 'round',
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
