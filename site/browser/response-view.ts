import { createElement } from '../../charts/elements.ts'
import type { Row } from '../../charts/formula-sums.ts'
import { disclosure, scrollable } from '../../charts/regions.ts'
import type { Endpoint } from '../../reference/reference.ts'
import { showCode } from './highlight.ts'
import { indentJson, isRow, parseObject } from './json.ts'
import type { ApiResponse } from './request.ts'

/** Rows in the table: more are slow on a phone, and the JSON contains them all. */
const MAX_ROWS = 100

export const SENDING = 'Sending…'
export const NO_RESPONSE = 'No response. Check your connection, then send the request again.'

/** Returns the rows of a response. */
export function rowsOf({ text }: ApiResponse): Row[] {
  const data = parseObject(text)?.data
  return Array.isArray(data) ? data.filter(isRow) : []
}

/** Returns the cursor of the next page, or null on the last page. */
export function nextCursorOf({ text }: ApiResponse): string | null {
  const pagination = parseObject(text)?.pagination
  return isRow(pagination) && typeof pagination.nextCursor === 'string' ? pagination.nextCursor : null
}

/** Returns the message of an error response. */
export function errorOf({ status, text }: Pick<ApiResponse, 'status' | 'text'>): string {
  const error = parseObject(text)?.error
  return typeof error === 'string' ? error : `The service returned ${status}.`
}

/** Renders a response as one line. */
export function summary(response: ApiResponse): Node[] {
  const { status, ms, headers } = response
  const limit = /r=(\d+);t=(\d+)/.exec(headers.get('RateLimit') ?? '')
  const retryAfter = headers.get('Retry-After')
  const facts = [
    status === 200 ? rowCount(response) : errorOf(response),
    `${ms} ms`,
    ...(retryAfter === null ? [] : [`retry after ${retryAfter} s`]),
    ...(limit === null ? [] : [`${limit[1]} requests left, resets in ${limit[2]} s`]),
  ]
  return [
    createElement('span', { class: 'status', 'data-kind': String(status).slice(0, 1) }, [String(status)]),
    createElement('span', {}, [` ${facts.join(' · ')}`]),
  ]
}

function rowCount(response: ApiResponse): string {
  const { length } = rowsOf(response)
  const more = nextCursorOf(response) === null ? '' : ', more on the next page'
  return `${length} ${length === 1 ? 'row' : 'rows'}${more}`
}

/** Renders a response in full: the rows as a table, the JSON and the headers. */
export function details(response: ApiResponse, endpoint: Endpoint): Node[] {
  const rows = rowsOf(response)
  const json = () => {
    const code = createElement('code')
    showCode(code, indentJson(response.text), 'json')
    return createElement('pre', scrollable('JSON'), [code])
  }
  return [
    ...(rows.length === 0 ? [] : [disclosure(rowsTitle(rows.length), table(rows, endpoint))]),
    disclosure('JSON', rows.length === 0 ? json() : json),
    disclosure('Headers', () => headerList(response.headers)),
  ]
}

const rowsTitle = (count: number): string =>
  count > MAX_ROWS ? `First ${MAX_ROWS} of ${count} rows` : 'Rows'

function table(rows: readonly Row[], { id, fields }: Endpoint): Node {
  const head = fields.map(({ name }) => createElement('th', { scope: 'col' }, [name]))
  const body = rows.slice(0, MAX_ROWS).map((row) => {
    const cells = fields.map(({ name, type }) => {
      const isNumber = type === 'integer' || type === 'number'
      return createElement('td', isNumber ? { class: 'number' } : {}, [textOf(row[name])])
    })
    return createElement('tr', {}, cells)
  })
  return createElement('div', scrollable(`Rows of ${id}`), [
    createElement('table', {}, [
      createElement('thead', {}, [createElement('tr', {}, head)]),
      createElement('tbody', {}, body),
    ]),
  ])
}

/** Writes a cell: an object as its members, with their numbers as they were sent. */
const textOf = (value: unknown): string =>
  isRow(value)
    ? Object.entries(value)
        .map(([name, each]) => `${name} ${each}`)
        .join(', ')
    : String(value)

const headerList = (headers: Headers): Node =>
  createElement(
    'dl',
    { class: 'fields' },
    [...headers].map(([name, value]) => term(createElement('code', {}, [name]), value)),
  )

/** A term of a list and its description. */
const term = (name: Node | string, description: string): Node =>
  createElement('div', {}, [createElement('dt', {}, [name]), createElement('dd', {}, [description])])
