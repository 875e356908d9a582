import type { Endpoint } from '../reference.ts'
import type { Answered } from './ask.ts'
import { element } from './dom.ts'
import { type Figure, figuresOf, type Row } from './figure.ts'
import { showCode } from './highlight.ts'
import { indented, isRow, parsed } from './json.ts'

/** Rows in the table: more of them make a phone slow, and the JSON has them all. */
const SHOWN = 100

type Shown = { readonly answered: Answered; readonly endpoint: Endpoint; readonly figure: Figure | undefined }

/** The rows of an answer. */
export function rowsOf({ text }: Answered): Row[] {
  const data = parsed(text)?.data
  return Array.isArray(data) ? data.filter(isRow) : []
}

/** The cursor of the next page; null where there is none. */
export function nextCursorOf({ text }: Answered): string | null {
  const pagination = parsed(text)?.pagination
  return isRow(pagination) && typeof pagination.nextCursor === 'string' ? pagination.nextCursor : null
}

/** The sentence of a refusal. */
export function sentenceOf({ status, text }: Answered): string {
  const error = parsed(text)?.error
  return typeof error === 'string' ? error : `The service answered ${status}.`
}

/** An answer in one line. */
export function summary(answered: Answered): Node[] {
  const { status, ms, headers } = answered
  const left = /r=(\d+);t=(\d+)/.exec(headers.get('RateLimit') ?? '')
  const wait = headers.get('Retry-After')
  const facts = [
    status === 200 ? countOf(answered) : sentenceOf(answered),
    `${ms} ms`,
    ...(wait === null ? [] : [`wait ${wait} s`]),
    ...(left === null ? [] : [`${left[1]} requests left, whole again in ${left[2]} s`]),
  ]
  return [
    element('span', { class: 'status', 'data-kind': String(status).slice(0, 1) }, [String(status)]),
    element('span', {}, [` ${facts.join(' · ')}`]),
  ]
}

function countOf(answered: Answered): string {
  const { length } = rowsOf(answered)
  const more = nextCursorOf(answered) === null ? '' : ', and another page follows'
  return `${length} ${length === 1 ? 'row' : 'rows'}${more}`
}

/** All that came back: the figure and the rows as a table, the JSON, the headers. */
export function details({ answered, endpoint, figure }: Shown): Node[] {
  const rows = rowsOf(answered)
  const code = element('code')
  showCode(code, indented(answered.text), 'json')
  return [
    ...(figure === undefined || rows.length === 0 ? [] : [figures(figure, rows, endpoint)]),
    ...(rows.length === 0 ? [] : [fold(rowsTitle(rows.length), table(rows, endpoint), true)]),
    fold('JSON', element('pre', SCROLLED('JSON'), [code]), rows.length === 0),
    fold('Headers', headerList(answered.headers), false),
  ]
}

const rowsTitle = (count: number): string => (count > SHOWN ? `Rows: the first ${SHOWN} of ${count}` : 'Rows')

/** What scrolls must be reachable with the keyboard, and have a name. */
const SCROLLED = (label: string) => ({
  tabindex: '0',
  role: 'region',
  'aria-label': label,
  class: 'scrolled',
})

function fold(title: string, content: Node, open: boolean): Node {
  return element('details', open ? { open: '' } : {}, [element('summary', {}, [title]), content])
}

function figures(figure: Figure, rows: readonly Row[], { summary, formula }: Endpoint): Node {
  const values = [...figuresOf(figure, rows, formula?.per)].map(([name, value]) =>
    element('div', {}, [
      element('dt', {}, [name || summary]),
      element('dd', {}, [value === null ? 'no value' : `${value.toFixed(2)} %`]),
    ]),
  )
  return element('div', { class: 'figures' }, [
    element('p', {}, ['By the formula, over the rows of this page:']),
    element('dl', {}, values),
  ])
}

function table(rows: readonly Row[], { id, fields }: Endpoint): Node {
  const numeric = new Set(
    fields.filter(({ type }) => type === 'integer' || type === 'number').map(({ name }) => name),
  )
  const cell = (row: Row, name: string) =>
    element('td', numeric.has(name) ? { class: 'number' } : {}, [
      row[name] === null ? 'null' : String(row[name]),
    ])
  return element('div', SCROLLED(`Rows of ${id}`), [
    element('table', {}, [
      element('thead', {}, [
        element(
          'tr',
          {},
          fields.map(({ name }) => element('th', { scope: 'col' }, [name])),
        ),
      ]),
      element(
        'tbody',
        {},
        rows.slice(0, SHOWN).map((row) =>
          element(
            'tr',
            {},
            fields.map(({ name }) => cell(row, name)),
          ),
        ),
      ),
    ]),
  ])
}

const headerList = (headers: Headers): Node =>
  element(
    'dl',
    { class: 'fields' },
    [...headers].map(([name, value]) =>
      element('div', {}, [element('dt', {}, [element('code', {}, [name])]), element('dd', {}, [value])]),
    ),
  )
