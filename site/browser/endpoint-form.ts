import type { ChartState } from '../charts/chart.ts'
import { createElement, find, findAll } from '../charts/elements.ts'
import type { Row } from '../charts/sums.ts'
import { type Endpoint, isDays, isMetric } from '../reference/endpoint.ts'
import { downloadCsv } from './download.ts'
import { NOT_LOADED } from './on-demand.ts'
import { queryOf } from './parameters.ts'
import {
  type ApiRequest,
  type ApiResponse,
  errorOf,
  FileError,
  NO_RESPONSE,
  SENDING,
  sendRequest,
} from './request.ts'
import { details, summary } from './response-view.ts'

type EndpointForm = {
  readonly endpoint: Endpoint
  readonly endpoints: readonly Endpoint[]
  readonly requestOf: (endpoint: Endpoint, query: ApiRequest['query']) => ApiRequest
  readonly brandOf: (id: string | undefined) => Row
  /** What the reader chose in the chart, which a chart changes. */
  readonly state: () => ChartState
  /** Called with the parameters of a chart that the reader changed. */
  readonly onView: (query: ApiRequest['query']) => void
  /** Called with each successful response. */
  readonly onResponse: (response: ApiResponse) => void
}

type Result = readonly (Node | string)[]

/**
 * Returns a function that does what a button of an endpoint's form says: one works at a time, cancels while it does, and
 * then says the status. Without a button, it ends what runs and sends the request.
 */
export function enableForm(form: HTMLFormElement, options: EndpointForm) {
  const { endpoint, endpoints, requestOf, brandOf, state, onView, onResponse } = options
  const [drawing, responded] = [createElement('div'), createElement('div')]
  find(HTMLElement, `[data-response="${endpoint.id}"]`).append(drawing, responded)
  const status = find(HTMLElement, '[data-status]', form)
  // Not in the live region: a screen reader would read every number.
  const progress = find(HTMLElement, '[data-progress]', form)
  const submit = find(HTMLButtonElement, 'button', form)
  const [nextButton] = findAll(HTMLButtonElement, '[data-next]', form)
  let next = ''
  let running:
    | { readonly button: Element; readonly controller: AbortController; readonly done: Promise<Result> }
    | undefined

  async function run(
    button: HTMLButtonElement,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<void> {
    if (running !== undefined) return running.button === button ? running.controller.abort() : undefined
    const label = button.textContent
    const controller = new AbortController()
    const others = findAll(HTMLButtonElement, 'button', form).filter((each) => each !== button)
    for (const each of others) each.ariaDisabled = 'true'
    button.textContent = 'Cancel'
    status.replaceChildren(SENDING)
    running = { button, controller, done: work(controller.signal) }
    const result = await running.done
    status.replaceChildren(...result)
    progress.replaceChildren()
    button.textContent = label
    for (const each of others) each.ariaDisabled = null
    running = undefined
  }

  const onProgress = (text: string) => progress.replaceChildren(text)

  /** Shows a page. The first one of a metric has a chart of all pages. */
  async function send(cursor: string, signal: AbortSignal): Promise<Result> {
    const query: Record<string, string> = { ...queryOf(form), ...(cursor && { cursor }) }
    // A run of days takes it in its first request only.
    if (query.cursor && isDays(endpoint)) delete query.since
    const response = await sendRequest(requestOf(endpoint, query), signal)
    if (cursor === '') drawing.replaceChildren()
    responded.replaceChildren(...(response ? details(response, endpoint) : []))
    if (response === null) return [signal.aborted ? 'Canceled.' : NO_RESPONSE]
    markFields(response)
    next = response.next ?? ''
    if (next === '' && nextButton === document.activeElement) submit.focus()
    if (nextButton) nextButton.hidden = next === ''
    if (response.status !== 200) return summary(response)
    onResponse(response)
    form.closest('.panel')?.querySelector('.example')?.removeAttribute('open')
    if (!isMetric(endpoint) || query.cursor) return summary(response)
    if (response.rows.length === 0) return [...summary(response), await firstDay(query.brandId ?? '', signal)]
    status.replaceChildren(...summary(response))
    return [...summary(response), await draw(response, query, signal)]
  }

  /** Draws all rows of a window. Returns why it did not. */
  async function draw(
    { rows, next }: ApiResponse,
    query: ApiRequest['query'],
    signal: AbortSignal,
  ): Promise<string> {
    const library = await import('./live-report.ts').catch(() => undefined)
    if (library === undefined) return ` ${NOT_LOADED}`
    const brand = brandOf(query.brandId)
    const window = {
      ...{ endpoint, endpoints, brand, state: state(), onChange: () => onView(query) },
      ...{ rows: next === null ? rows : undefined, reading: { signal, onProgress } },
      requestOf: (of: Endpoint) => requestOf(of, query),
    }
    try {
      const drawn = await library.drawWindow(window)
      // The form can have other values by now.
      const sent = [brand.name, query.fromDate, query.toDate].filter(Boolean).join(' · ')
      drawing.replaceChildren(createElement('p', { class: 'facts' }, [sent]), ...drawn)
      return ''
    } catch (error) {
      if (signal.aborted) return ' Canceled: a chart needs all rows of the window.'
      return ` ${error instanceof FileError ? error.message : NO_RESPONSE}`
    }
  }

  /** Says where the rows of a brand begin. */
  async function firstDay(brandId: string, signal: AbortSignal): Promise<string> {
    const all = { brandId, fromDate: '0001-01-01' }
    const response = await sendRequest(requestOf(endpoint, all), signal)
    if (response?.status !== 200) return ''
    const [row] = response.rows
    return row ? ` The first row within your plan is of ${row.date}.` : ' There are no rows within your plan.'
  }

  /** Marks the fields whose parameters an error names. */
  function markFields(response: ApiResponse): void {
    const named = response.status === 400 ? errorOf(response).split(/\W+/) : []
    for (const field of findAll(HTMLElement, '[data-parameter]', form))
      field.ariaInvalid = named.includes(field.dataset.parameter ?? '') ? 'true' : null
  }

  return async (button?: HTMLButtonElement) => {
    // An address that is opened ends what runs, and is sent then.
    while (button === undefined && running !== undefined) {
      running.controller.abort()
      await running.done
    }
    return run(button ?? submit, async (signal) => {
      if (!button?.matches('[data-download]')) return send(button?.matches('[data-next]') ? next : '', signal)
      const query = queryOf(form)
      const brand = String(brandOf(query.brandId).name)
      return [await downloadCsv(requestOf(endpoint, query), brand, { signal, onProgress })]
    })
  }
}
