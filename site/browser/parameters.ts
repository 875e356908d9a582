import { createElement, find, findAll } from '../charts/elements.ts'
import type { Row } from '../charts/sums.ts'

type Field = HTMLInputElement | HTMLSelectElement

const fieldsOf = (form: ParentNode): Field[] =>
  [HTMLSelectElement, HTMLInputElement].flatMap((type) => findAll<Field>(type, '[data-parameter]', form))

/** Returns the values of a form by parameter, without empty ones. */
export function queryOf(form: ParentNode): Record<string, string> {
  const values = fieldsOf(form).map(({ dataset, value }) => [dataset.parameter ?? '', value.trim()])
  return Object.fromEntries(values.filter(([, value]) => value !== ''))
}

type Parameters = {
  readonly forms: readonly HTMLFormElement[]
  /** Called when a value changes. */
  readonly onChange: () => void
  /** Called with the form in which a value was entered. */
  readonly onInput: (form: HTMLFormElement) => void
  /** Called with the form that an address names, and what it says of its chart. */
  readonly onOpen: (form: HTMLFormElement, view: URLSearchParams) => void
}

/** Gives all forms one brand and the same dates: those of the address, and what is entered in any of them. */
export function shareParameters({ forms, onChange, onInput, onOpen }: Parameters) {
  const selects = forms.flatMap((form) => findAll(HTMLSelectElement, '[data-parameter=brandId]', form))
  let shared: Values = {}
  /** The brand of the address that was opened, which can be one that the key does not read. */
  let opened: string | undefined

  /** Clears the cursor of a form, which belongs to the previous values. */
  function toFirstPage(form: ParentNode): void {
    for (const field of fieldsOf(form)) if (field.dataset.parameter === 'cursor') field.value = ''
    for (const next of findAll(HTMLElement, '[data-next]', form)) next.hidden = true
  }

  /** Sets a parameter in all forms. */
  function set(name: string, value: string): void {
    for (const form of forms) {
      for (const field of fieldsOf(form)) {
        if (field.dataset.parameter !== name) continue
        if (field instanceof HTMLSelectElement) offer(field, { id: value, name: value })
        field.value = value
      }
      toFirstPage(form)
    }
  }

  /** Adds a brand to those to choose from, unless it is one of them. */
  function offer(select: HTMLSelectElement, { id, name }: Row): void {
    if ([...select.options].some(({ value }) => value === id)) return
    select.append(createElement('option', { value: String(id) }, [String(name)]))
  }

  /** Takes the values of the address. An address without values, such as that of a link of the page, gets them. */
  function follow(): void {
    const { hash } = location
    const { target, values } = readFragment(hash)
    if (Object.keys(values).length > 0) {
      shared = values
      opened = values.brandId
      for (const name of SHARED) set(name, values[name] ?? '')
      onChange()
    } else if (Object.keys(shared).length > 0) writeAddress(target, shared)
    // Browsers look for an element with the whole fragment as its id.
    if (!hash.includes('?')) return
    open()
    document.getElementById(target)?.scrollIntoView({ behavior: 'instant' })
  }

  /** Calls `onOpen` with the form that the address names, if any. */
  function open(): void {
    const { target, view } = readFragment(location.hash)
    const section = document.getElementById(target)?.closest('section')
    const form = section && forms.find((each) => section.contains(each))
    if (form) onOpen(form, view)
  }

  /** Writes an address such as `#visibility?brandId=…&fromDate=2026-10-01`. */
  function writeAddress(target: string, values: Values, view = new URLSearchParams()): void {
    const kept = SHARED.flatMap((name) => (values[name] ? [[name, values[name]]] : []))
    const parameters = new URLSearchParams([...kept, ...view]).toString()
    history.replaceState(null, '', `#${target}${parameters && `?${parameters}`}`)
  }

  /** Keeps what the reader chose in the chart of a form in the address, and its brand and dates: by default, the form's. */
  function keepInAddress(form: HTMLFormElement, view: URLSearchParams, values?: Values): void {
    const names = fieldsOf(form).map(({ dataset }) => dataset.parameter ?? '')
    const others = Object.entries(shared).filter(([name]) => !names.includes(name))
    shared = { ...Object.fromEntries(others), ...queryOf(form) }
    writeAddress(form.id, values ?? shared, view)
  }

  /** Lists the brands to choose from, and chooses the first one where a brand is required and none is chosen. */
  function listBrands(rows: readonly Row[]): void {
    const brands = rows.map(({ id, name }) => ({
      id,
      name:
        rows.filter((row) => row.name === name).length === 1 ? name : `${name} (${String(id).slice(0, 8)})`,
    }))
    for (const select of selects) {
      const { value } = select
      select.length = 1
      if (select.required) find(HTMLOptionElement, 'option', select).text = 'Choose a brand'
      for (const each of brands) offer(select, each)
      if (value === opened) offer(select, { id: value, name: value })
      // A brand that is not listed, such as one of the previous key, leaves the value empty.
      select.value = value
      if (select.value === '') select.value = select.required ? String(rows[0]?.id ?? '') : ''
      if (select.value !== value && select.form !== null) toFirstPage(select.form)
    }
    onChange()
  }

  for (const form of forms) {
    for (const field of fieldsOf(form)) {
      const { parameter = '' } = field.dataset
      if (parameter === 'cursor') continue
      field.addEventListener('input', () => {
        // A list of all brands leaves the brand of the other forms.
        if (parameter === 'brandId' && field.value === '') toFirstPage(form)
        else set(parameter, field.value)
        onInput(form)
        onChange()
      })
    }
  }
  addEventListener('hashchange', follow)
  follow()
  onChange()
  return { listBrands, keepInAddress, open }
}

/** The parameters that the address keeps. The key is none of them. */
const SHARED = ['brandId', 'fromDate', 'toDate']

type Values = Readonly<Record<string, string>>

/**
 * Returns the id of the element that an address points to, its parameters, none or all with empty ones, and what it has
 * of a view.
 */
function readFragment(hash: string) {
  const [target = '', query] = hash.slice(1).split('?')
  const parameters = new URLSearchParams(query)
  const names = SHARED.some((name) => parameters.has(name)) ? SHARED : []
  const values: Values = Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? '']))
  for (const name of SHARED) parameters.delete(name)
  return { target, values, view: parameters }
}
