import { type Notation, write } from '../formula.ts'
import { isPaged } from '../reference.ts'
import { parametersOf, type RequestContext } from './request.ts'

/** A program for Python 3.8 or later, with its standard library alone. */
export function python(asked: RequestContext): string {
  const { origin, endpoint } = asked
  const paged = isPaged(endpoint)
  const parameters = parametersOf(asked)
  const given = parameters.map(([name, value]) => `    ${text(name)}: ${text(value)},`).join('\n')
  return `import json, os, time
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

URL = ${text(origin + endpoint.path)}
KEY = os.environ["EXPORT_API_KEY"]  # svc_live_…


def get(parameters):
    """One answer; 429 and 503 are asked again after Retry-After seconds."""
    request = Request(f"{URL}?{urlencode(parameters)}", headers={"X-API-Key": KEY})
    for attempt in range(10):
        try:
            with urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except HTTPError as error:
            if error.code not in (429, 503) or attempt == 9:
                raise SystemExit(f"{error.code}: {json.load(error)['error']}")
            time.sleep(int(error.headers["Retry-After"]))

${paged ? PAGES : ''}
rows = ${paged ? `list(pull({\n${given}\n}))` : 'get({})["data"]'}
print(len(rows), "rows")
${figure(asked)}`.trimEnd()
}

const PAGES = `
def pull(parameters):
    """Every row of the window, page after page until hasMore is false."""
    while True:
        page = get(parameters)
        yield from page["data"]
        if not page["pagination"]["hasMore"]:
            return
        parameters = {**parameters, "cursor": page["pagination"]["nextCursor"]}

`

const notation = (rows: string): Notation => ({
  sum: (inner) => `sum(${inner} for row in ${rows})`,
  field: (name) => `row[${text(name)}]`,
  round: 'round',
})

function figure({ endpoint: { formula, summary } }: RequestContext): string {
  if (formula === undefined) return ''
  const { part, whole, per } = formula
  const sides = (rows: string, indent: string) => `${indent}part = ${write(part, notation(rows))}
${indent}whole = ${write(whole, notation(rows))}`
  const value = 'part / whole * 100 if whole else None'
  if (per === undefined) {
    return `
# ${summary} of the window: add up, then divide.
${sides('rows', '')}
print(${value})`
  }
  return `
# ${summary} of the window: add up, then divide.
for name in sorted({row[${text(per)}] for row in rows}):
    its = [row for row in rows if row[${text(per)}] == name]
${sides('its', '    ')}
    print(name, ${value})`
}

/** A JSON text is a Python text as well. */
const text = (value: string): string => JSON.stringify(value)
