import type { ChartState } from '../charts/chart.ts'
import { button as createButton, find, findAll } from '../charts/elements.ts'
import { addRows } from '../charts/sums.ts'
import { type Endpoint, isMetric } from '../reference/endpoint.ts'
import { downloadCsv } from './download.ts'
import { type Brand, formulaChart } from './formula-chart.ts'
import { addPage, type LoadedRows } from './loaded-rows.ts'
import { queryOf } from './parameters.ts'
import { type ApiResponse, pagesFrom, sendRequest } from './request.ts'
import { amount, details, NO_RESPONSE, SENDING, summary } from './response-view.ts'

type EndpointForm = {
  readonly endpoint: Endpoint
  readonly endpoints: readonly Endpoint[]
  readonly keyOf: () => string
  /** Called before a request is sent. */
  readonly onSend: () => void
  /** Called with each successful response. */
  readonly onResponse: (response: ApiResponse) => void
}

type Result = readonly (Node | string)[]

/** Makes the buttons of an endpoint's form work. One works at a time, cancels while it does, and then says the status. */
export function enableForm(form: HTMLFormElement, options: EndpointForm): void {
  const { endpoint, endpoints, keyOf, onSend, onResponse } = options
  const view = find(HTMLElement, `[data-response="${endpoint.id}"]`)
  const status = find(HTMLElement, '[data-status]', form)
  // Not in the live region: a screen reader would read every page.
  const progress = find(HTMLElement, '[data-progress]', form)
  const submit = find(HTMLButtonElement, '[type=submit]', form)
  const nextButtons = findAll(HTMLButtonElement, '[data-next], [data-all]', form)
  const state: ChartState = { off: new Set() }
  let loaded: LoadedRows | undefined
  let brand: Brand | undefined
  let running: { readonly button: HTMLButtonElement; readonly controller: AbortController } | undefined

  async function run(
    button: HTMLButtonElement,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<void> {
    if (running !== undefined) return running.button === button ? running.controller.abort() : undefined
    const label = button.textContent
    const controller = new AbortController()
    running = { button, controller }
    const others = findAll(HTMLButtonElement, 'button', form).filter((each) => each !== button)
    for (const each of others) each.ariaDisabled = 'true'
    button.textContent = 'Cancel'
    status.replaceChildren(SENDING)
    const result = await work(controller.signal)
    status.replaceChildren(...result)
    progress.replaceChildren()
    button.textContent = label
    for (const each of others) each.ariaDisabled = null
    running = undefined
  }

  const requestOf = (query: Readonly<Record<string, string>>, { path } = endpoint) => ({
    path,
    query,
    key: keyOf(),
  })
  const failure = ({ aborted }: AbortSignal) => [aborted ? 'Canceled.' : NO_RESPONSE]
  const onWait = (seconds: number) =>
    progress.replaceChildren(`Rate limit reached. Continues in ${seconds} s.`)

  async function show(response: ApiResponse): Promise<void> {
    const charts = loaded ? await formulaChart(endpoint, { loaded, brand, state }) : []
    const compare = charts.length > 0 && !brand && endpoint.formula?.per === 'competitor_name'
    view.replaceChildren(
      ...charts,
      ...(compare
        ? [createButton('Add the brand', () => run(submit, (signal) => addBrand(response, signal)))]
        : []),
      ...details(response, loaded?.rows ?? [], endpoint),
    )
    view.parentElement?.querySelector('.example')?.removeAttribute('open')
  }

  /** Shows a page, after the pages before it. */
  async function send(cursor: string, signal: AbortSignal): Promise<Result> {
    const query: Record<string, string> = { ...queryOf(form), ...(cursor && { cursor }) }
    onSend()
    const response = await sendRequest(requestOf(query), signal)
    if (response === null) view.replaceChildren()
    if (response === null) return failure(signal)
    if (response.status !== 200) loaded = undefined
    else {
      if (cursor === '') brand = undefined
      loaded = addPage(loaded, query.cursor ?? '', response)
      onResponse(response)
    }
    await show(response)
    offerNext(response)
    const isEmpty = response.status === 200 && response.rows.length === 0 && isMetric(endpoint)
    return [...summary(response), ...(isEmpty ? [await firstDay(query.brandId ?? '', signal)] : [])]
  }

  /** Shows all pages after those that are loaded. */
  async function sendAll(signal: AbortSignal): Promise<Result> {
    let [pages, last, failed]: [number, ApiResponse | null, Result | null] = [0, null, null]
    const query = { ...queryOf(form), ...(loaded?.next && { cursor: loaded.next }) }
    for await (const response of pagesFrom(requestOf(query), { signal, onWait })) {
      if (response?.status !== 200) {
        failed = response === null ? failure(signal) : summary(response)
        break
      }
      loaded = addPage(loaded, loaded?.next ?? '', response)
      last = response
      pages += 1
      progress.replaceChildren(
        `${pages} more ${pages === 1 ? 'page' : 'pages'}, ${amount(loaded.rows.length)}…`,
      )
    }
    if (last !== null) await show(last)
    if (last !== null) offerNext(last)
    const rows = amount(loaded?.rows.length ?? 0)
    return failed ? [...failed, ` ${rows} are loaded.`] : [`All pages are loaded: ${rows}.`]
  }

  /** Adds the brand's own visibility to the chart of its competitors. */
  async function addBrand(shown: ApiResponse, signal: AbortSignal): Promise<Result> {
    const { cursor, ...query } = queryOf(form)
    const visibility = endpoints.find(({ id }) => id === 'visibility')
    if (visibility?.formula === undefined) return []
    const adder = addRows(visibility.formula)
    for await (const response of pagesFrom(requestOf(query, visibility), { signal, onWait })) {
      if (response?.status !== 200) return response === null ? failure(signal) : summary(response)
      for (const row of response.rows) adder.add(row)
    }
    const name = find(HTMLSelectElement, 'select', form).selectedOptions[0]?.text ?? ''
    brand = { name, sums: adder.result() }
    await show(shown)
    return [`Added ${name}, from /visibility.`]
  }

  /** Says where the rows of a brand begin. */
  async function firstDay(brandId: string, signal: AbortSignal): Promise<string> {
    const response = await sendRequest(requestOf({ brandId, fromDate: '0001-01-01' }), signal)
    if (response?.status !== 200) return ''
    const [row] = response.rows
    return row ? ` The first row within your plan is of ${row.date}.` : ' There are no rows within your plan.'
  }

  function offerNext({ next }: ApiResponse): void {
    if (next === null && nextButtons.some((button) => button === document.activeElement)) submit.focus()
    for (const button of nextButtons) button.hidden = next === null
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void run(submit, (signal) => send('', signal))
  })
  const works = {
    next: (signal: AbortSignal) => send(loaded?.next ?? '', signal),
    all: sendAll,
    download: async (signal: AbortSignal) => {
      const onProgress = (text: string) => progress.replaceChildren(text)
      return [await downloadCsv({ request: requestOf(queryOf(form)), signal, onProgress })]
    },
  }
  for (const [name, work] of Object.entries(works))
    for (const button of findAll(HTMLButtonElement, `[data-${name}]`, form))
      button.addEventListener('click', () => void run(button, work))
}
