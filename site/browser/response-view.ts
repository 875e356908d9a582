import { createElement, disclosure, scrollable, table } from '../charts/elements.ts'
import type { Row } from '../charts/sums.ts'
import { type Endpoint, isMetric } from '../reference/endpoint.ts'
import { showCode } from './highlight.ts'
import { indentJson, isRow } from './json.ts'
import { type ApiResponse, amount, errorOf, toMessage } from './request.ts'

/** Rows in the table: more are slow on a phone, and the CSV file contains them all. */
const MAX_ROWS = 100

/** Writes how many rows there are, or days that have rows. */
function counted(rows: readonly Row[]): string {
  const text = amount(rows.length)
  return Array.isArray(rows[0]?.rows) ? text.replace('row', 'day') : text
}

/** Renders a response as one line. */
export function summary(response: ApiResponse): Node[] {
  const { status, ms, headers, rows, next } = response
  const limit = /r=(\d+);t=(\d+)/.exec(headers.get('RateLimit') ?? '')
  const retryAfter = headers.get('Retry-After')
  const facts = [
    status === 200 ? counted(rows) + (next === null ? '' : ' on this page') : errorOf(response),
    `${ms} ms`,
    ...(retryAfter === null ? [] : [`retry after ${retryAfter} s`]),
    ...(limit === null ? [] : [`${limit[1]} requests left, next refill in ${limit[2]} s`]),
  ]
  return [
    createElement('span', { class: 'status', 'data-kind': String(status).slice(0, 1) }, [String(status)]),
    createElement('span', {}, [` ${facts.join(' · ')}`]),
  ]
}

/** Renders the rows of a response as a table, its JSON and its headers. Rows of a metric start closed: a chart shows them. */
export function details(response: ApiResponse, endpoint: Endpoint): Node[] {
  const [{ rows }, { id, fields }] = [response, endpoint]
  const shown = (text: string) => (response.status === 200 ? text : toMessage(text, response.key))
  const json = () => block('JSON', shown(indentJson(response.text)), 'json')
  const headers = shown([...response.headers].map((pair) => pair.join(': ')).join('\n'))
  const title = rows.length > MAX_ROWS ? `First ${MAX_ROWS} of ${counted(rows)}` : 'Rows'
  const names = fields.map(({ name }) => name)
  const cells = () =>
    rows.slice(0, MAX_ROWS).map((row) => fields.map(({ name, type }) => cellOf(row[name], type)))
  const rowTable = () => createElement('div', scrollable(`Rows of ${id}`), [table(names, cells())])
  return [
    ...(rows.length === 0 ? [] : [disclosure(title, isMetric(endpoint) ? rowTable : rowTable())]),
    disclosure('JSON', rows.length === 0 ? json() : json),
    disclosure('Headers', () => block('Headers', headers)),
  ]
}

function block(label: string, text: string, language?: string): Node {
  const code = createElement('code')
  showCode(code, text, language)
  return createElement('pre', scrollable(label), [code])
}

/** Writes a cell: an object as its members, with their numbers as they were sent, and of rows how many they are. */
function cellOf(value: unknown, type: string): Node {
  const members = isRow(value) && Object.entries(value).map((member) => member.join(' '))
  if (Array.isArray(value)) return createElement('span', {}, [amount(value.length)])
  const attributes = type === 'integer' || type === 'number' ? { class: 'number' } : {}
  return createElement('span', attributes, [members ? members.join(', ') : String(value)])
}
