import { type Endpoint, isPaged } from '../reference.ts'
import type { RequestContext } from '../samples/request.ts'
import { details, nextCursorOf, rowsOf, sentenceOf, summary } from './answer.ts'
import { type Answered, ask } from './ask.ts'
import { element, find, findAll } from './dom.ts'
import type { Figure, Row } from './figure.ts'
import { showCode } from './highlight.ts'
import { showSamples } from './samples.ts'

const AWAY = 'Nothing came back: the service could not be reached.'

/** Brings the page to life: samples that follow what a reader picks, requests to send, and a key that is nowhere but here. */
export function start(endpoints: readonly Endpoint[], figures: Readonly<Record<string, Figure>>): void {
  const keyInput = find(HTMLInputElement, '#key-input')
  const forms = findAll(HTMLFormElement, 'form.try')
  const listing = endpoints.find((endpoint) => !isPaged(endpoint))

  const inputsOf = (form: ParentNode) => findAll(HTMLInputElement, '[data-parameter]', form)

  function queryOf(form: ParentNode): Record<string, string> {
    const picked = inputsOf(form).map(({ dataset, value }) => [dataset.parameter ?? '', value.trim()])
    return Object.fromEntries(picked.filter(([, value]) => value !== ''))
  }

  function askedOf(id: string): RequestContext {
    const endpoint = endpoints.find((each) => each.id === id)
    if (endpoint === undefined) throw new Error(`There is no ${id}`)
    const { cursor, ...query } = queryOf(find(HTMLFormElement, `form[data-endpoint="${id}"]`))
    return { origin: location.origin, endpoint, query }
  }

  const refreshSamples = showSamples(askedOf)

  /** A brand or a day that is picked at one endpoint is picked at all of them; a cursor belongs to the run that gave it. */
  function share(name: string, value: string): void {
    for (const input of forms.flatMap(inputsOf)) {
      if (input.dataset.parameter === name) input.value = value
      else if (input.dataset.parameter === 'cursor') input.value = ''
    }
    for (const next of findAll(HTMLElement, '[data-next]')) next.hidden = true
    refreshSamples()
  }

  function knowBrands(rows: readonly Row[]): void {
    const options = rows.map(({ id, name }) => element('option', { value: String(id) }, [String(name)]))
    find(HTMLElement, '#brands-list').replaceChildren(...options)
    const [first] = rows
    const empty = forms
      .flatMap(inputsOf)
      .some(({ dataset, value }) => dataset.parameter === 'brandId' && value === '')
    if (first !== undefined && empty) share('brandId', String(first.id))
  }

  async function send(form: HTMLFormElement): Promise<void> {
    const { endpoint } = askedOf(form.dataset.endpoint ?? '')
    const place = find(HTMLElement, `[data-answer="${endpoint.id}"]`)
    const [line, body] = [
      find(HTMLElement, '[data-summary]', place),
      find(HTMLElement, '[data-details]', place),
    ]
    const button = find(HTMLButtonElement, '[type=submit]', form)
    button.disabled = true
    line.replaceChildren('Asking …')
    const answered = await ask(endpoint.path, queryOf(form), keyInput.value.trim())
    button.disabled = false
    if (answered === null) {
      line.replaceChildren(AWAY)
      body.replaceChildren()
      return
    }
    line.replaceChildren(...summary(answered))
    body.replaceChildren(...details({ answered, endpoint, figure: figures[endpoint.id] }))
    offerNext(form, answered)
    if (endpoint === listing && answered.status === 200) knowBrands(rowsOf(answered))
  }

  function offerNext(form: HTMLFormElement, answered: Answered): void {
    const next = form.querySelector('[data-next]')
    if (!(next instanceof HTMLButtonElement)) return
    const cursor = nextCursorOf(answered)
    next.hidden = cursor === null
    next.onclick = () => {
      for (const input of inputsOf(form)) if (input.dataset.parameter === 'cursor') input.value = cursor ?? ''
      void send(form)
    }
  }

  for (const form of forms) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void send(form)
    })
    for (const input of inputsOf(form)) {
      const { parameter = '' } = input.dataset
      if (parameter !== 'cursor') input.addEventListener('input', () => share(parameter, input.value))
    }
  }

  const state = find(HTMLElement, '#key-state')
  find(HTMLFormElement, '#key').addEventListener('submit', async (event) => {
    event.preventDefault()
    if (listing === undefined) return
    state.replaceChildren('Asking …')
    const answered = await ask(listing.path, {}, keyInput.value.trim())
    if (answered === null) return state.replaceChildren(AWAY)
    if (answered.status !== 200) return state.replaceChildren(`${answered.status}: ${sentenceOf(answered)}`)
    const rows = rowsOf(answered)
    knowBrands(rows)
    state.replaceChildren(`Reads ${rows.map(({ name }) => String(name)).join(', ') || 'no brand'}.`)
  })

  const show = find(HTMLButtonElement, '#key-show')
  show.addEventListener('click', () => {
    const secret = keyInput.classList.toggle('secret')
    show.setAttribute('aria-pressed', String(!secret))
  })

  for (const code of findAll(HTMLElement, 'code[data-language=json]'))
    showCode(code, code.textContent, 'json')
}
