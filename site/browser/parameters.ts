import { createElement, find, findAll } from '../charts/elements.ts'
import type { Row } from '../charts/sums.ts'

type Field = HTMLInputElement | HTMLSelectElement

const isField = (element: Element): element is Field =>
  element instanceof HTMLInputElement || element instanceof HTMLSelectElement

const fieldsOf = (form: ParentNode): Field[] => [...form.querySelectorAll('[data-parameter]')].filter(isField)

/** Returns the values of a form by parameter, without empty ones. */
export function queryOf(form: ParentNode): Record<string, string> {
  const values = fieldsOf(form).map(({ dataset, value }) => [dataset.parameter ?? '', value.trim()])
  return Object.fromEntries(values.filter(([, value]) => value !== ''))
}

type Parameters = {
  readonly forms: readonly HTMLFormElement[]
  /** Called when a value changes. */
  readonly onChange: () => void
}

type SharedParameters = {
  /** Lists the brands to choose from, and chooses the first one where a brand is required and none is chosen. */
  readonly listBrands: (rows: readonly Row[]) => void
  /** Keeps the brand and the dates of a form in the address. */
  readonly keepInAddress: (form: HTMLFormElement) => void
}

/** Gives all forms one brand and the same dates: those of the address, and what is entered in any of them. */
export function shareParameters({ forms, onChange }: Parameters): SharedParameters {
  const selects = forms.flatMap((form) => findAll(HTMLSelectElement, '[data-parameter=brandId]', form))
  let shared: Values = {}
  /** The brand of the address that was opened, which can be one that the key does not read. */
  let opened: string | undefined

  /** Clears the cursor of a form, which belongs to the previous values. */
  function toFirstPage(form: ParentNode): void {
    for (const field of fieldsOf(form)) if (field.dataset.parameter === 'cursor') field.value = ''
    for (const next of findAll(HTMLElement, '[data-next], [data-all]', form)) next.hidden = true
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
      for (const [name, value] of Object.entries(values)) set(name, value)
      onChange()
    } else if (Object.keys(shared).length > 0) writeAddress(target)
    // Browsers look for an element with the whole fragment as its id.
    if (hash.includes('?')) document.getElementById(target)?.scrollIntoView({ behavior: 'instant' })
  }

  const writeAddress = (target: string) => history.replaceState(null, '', writeFragment(target, shared))

  function keepInAddress(form: HTMLFormElement): void {
    shared = queryOf(form)
    writeAddress(`${form.dataset.endpoint}-try`)
  }

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
        keepInAddress(form)
        onChange()
      })
    }
  }
  addEventListener('hashchange', follow)
  follow()
  onChange()
  return { listBrands, keepInAddress }
}

/** The parameters that the address keeps. The key is none of them. */
const SHARED = ['brandId', 'fromDate', 'toDate']

type Values = Readonly<Record<string, string>>

/** Returns the id of the element that an address points to, and its parameters: none, or all with empty ones. */
function readFragment(hash: string): { readonly target: string; readonly values: Values } {
  const [target = '', query] = hash.slice(1).split('?')
  const parameters = new URLSearchParams(query)
  const hasValues = SHARED.some((name) => parameters.has(name))
  const values = hasValues ? SHARED.map((name) => [name, parameters.get(name) ?? '']) : []
  return { target, values: Object.fromEntries(values) }
}

/** Writes a fragment such as `#visibility?brandId=…&fromDate=2026-10-01`. */
function writeFragment(target: string, values: Values): string {
  const shared = SHARED.flatMap((name) => (values[name] ? [[name, values[name]]] : []))
  return `#${target}${shared.length === 0 ? '' : `?${new URLSearchParams(shared)}`}`
}
