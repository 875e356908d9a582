import { find, findAll } from '../../charts/elements.ts'
import { type Endpoint, isPaged } from '../../reference/reference.ts'
import type { SampleRequest } from '../samples.ts'
import { enableDownload } from './download-button.ts'
import { formulaChart } from './formula-chart.ts'
import { showCode } from './highlight.ts'
import { enableKeyForm } from './key-form.ts'
import { addPage, type LoadedRows } from './loaded-rows.ts'
import { foldParameters, queryOf, setCursor, shareParameters } from './parameters.ts'
import { enableProfileButton } from './profile-button.ts'
import { type ApiResponse, sendRequest } from './request.ts'
import { details, NO_RESPONSE, nextCursorOf, rowsOf, SENDING, summary } from './response-view.ts'
import { showSamples } from './sample-tabs.ts'

/** Makes the page interactive: code samples, request forms, and the key, which stays in its input. */
export function main(endpoints: readonly Endpoint[]): void {
  const forms = findAll(HTMLFormElement, 'form.try')
  const brands = endpoints.find((endpoint) => !isPaged(endpoint))
  if (brands === undefined) throw new Error('No endpoint lists the brands')
  const loaded = new Map<string, LoadedRows>()
  const switchedOff = new Map(endpoints.map(({ id }) => [id, new Set<string>()]))

  function sampleRequest(id: string): SampleRequest {
    const endpoint = endpoints.find((each) => each.id === id)
    if (endpoint === undefined) throw new Error(`Unknown endpoint ${id}`)
    const { cursor, ...query } = queryOf(find(HTMLFormElement, `form[data-endpoint="${id}"]`))
    return { origin: location.origin, endpoint, query }
  }

  const renderSamples = showSamples(sampleRequest)
  const { listBrands, keepInAddress } = shareParameters({ forms, onChange: renderSamples })
  foldParameters()
  const keyOf = enableKeyForm({ brands, onBrands: listBrands })

  enableProfileButton(keyOf)

  async function send(form: HTMLFormElement): Promise<void> {
    const { endpoint } = sampleRequest(form.dataset.endpoint ?? '')
    const view = find(HTMLElement, `[data-response="${endpoint.id}"]`)
    const summaryElement = find(HTMLElement, '[data-summary]', view)
    const detailsElement = find(HTMLElement, '[data-details]', view)
    const button = find(HTMLButtonElement, '[type=submit]', form)
    button.disabled = true
    summaryElement.replaceChildren(SENDING)
    const query = queryOf(form)
    if (isPaged(endpoint)) keepInAddress(form)
    const response = await sendRequest({ path: endpoint.path, query, key: keyOf() })
    button.disabled = false
    if (response === null) {
      summaryElement.replaceChildren(NO_RESPONSE)
      detailsElement.replaceChildren()
      return
    }
    summaryElement.replaceChildren(...summary(response))
    const charts: Node[] = []
    if (response.status === 200) {
      const page = { rows: rowsOf(response), next: nextCursorOf(response) }
      const rows = addPage(loaded.get(endpoint.id), query.cursor ?? '', page)
      loaded.set(endpoint.id, rows)
      charts.push(...formulaChart(endpoint, rows, switchedOff.get(endpoint.id)))
    }
    detailsElement.replaceChildren(...charts, ...details(response, endpoint))
    offerNextPage(form, response)
    if (endpoint === brands && response.status === 200) listBrands(rowsOf(response))
  }

  function offerNextPage(form: HTMLFormElement, response: ApiResponse): void {
    const button = form.querySelector('[data-next]')
    if (!(button instanceof HTMLButtonElement)) return
    const cursor = nextCursorOf(response)
    button.hidden = cursor === null
    button.onclick = () => {
      setCursor(form, cursor ?? '')
      void send(form)
    }
  }

  for (const form of forms) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void send(form)
    })
    enableDownload(form, () => {
      const { endpoint, query } = sampleRequest(form.dataset.endpoint ?? '')
      return { path: endpoint.path, query, key: keyOf() }
    })
  }

  for (const code of findAll(HTMLElement, 'code[data-language=json]'))
    showCode(code, code.textContent, 'json')
}
