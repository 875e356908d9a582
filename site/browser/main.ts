import type { ChartState } from '../charts/chart.ts'
import { find, findAll } from '../charts/elements.ts'
import type { Row } from '../charts/sums.ts'
import type { SampleRequest } from '../curl-sample.ts'
import { type Endpoint, isPaged } from '../reference/endpoint.ts'
import { enableCopy } from './copy.ts'
import type { enableForm } from './endpoint-form.ts'
import { enableFirstScreen } from './first-screen.ts'
import { showCode } from './highlight.ts'
import { enableKeyForm } from './key-form.ts'
import { addAnchors, markCurrent, offerSearch } from './navigation.ts'
import { loadPart, whenNear } from './on-demand.ts'
import { queryOf, shareParameters } from './parameters.ts'
import { type ApiRequest, type ApiResponse, readRows } from './request.ts'
import { readState, writeState } from './view-state.ts'

/** Makes the page interactive: code samples, request forms, search, and the key, which stays in its input. */
export function main(endpoints: readonly Endpoint[]): void {
  closeLists()
  const forms = findAll(HTMLFormElement, 'form.try')
  const brands = endpoints.find((endpoint) => !isPaged(endpoint))
  if (brands === undefined) throw new Error('No endpoint lists the brands')
  const endpointOf = (id = ''): Endpoint => {
    const endpoint = endpoints.find((each) => each.id === id)
    if (endpoint === undefined) throw new Error(`Unknown endpoint ${id}`)
    return endpoint
  }
  function sampleRequest(id: string): SampleRequest {
    const { cursor, ...query } = queryOf(find(HTMLFormElement, `form[data-endpoint="${id}"]`))
    return { origin: location.origin, endpoint: endpointOf(id), query }
  }

  const own = find(HTMLFormElement, '#own-form')
  const requestOf = ({ path }: Endpoint, query = {}) => ({ path, query, key: keyOf() })
  const showOwn = enableFirstScreen({
    endpoints,
    requestOf: ({ path }, { id }) => ({ path, query: { brandId: String(id) }, key: listedBy }),
    chosen: () => ownChosen,
    onChange: () => keepInAddress(own),
  })
  const request = find(HTMLElement, '#own-request')
  let ownChosen = new URLSearchParams()
  let samples: Promise<() => void> | undefined
  let listed: readonly Row[] = []
  const brandOf = (id: unknown) => listed.find((row) => row.id === id)
  /** The key that listed them: the input can have another one by now. */
  let listedBy = ''
  const states = new Map<HTMLFormElement, ChartState>()

  /** Shows the brand and the dates that are chosen. */
  function onChange(): void {
    samples?.then((render) => render()).catch(() => undefined)
    const { brandId } = queryOf(own)
    // Encoded, it has no quote that would end the address in the command.
    const encoded = String(new URLSearchParams({ brandId: brandId ?? '' }))
    request.textContent = request.textContent.replace(/brandId=[^&']*/, encoded)
    showOwn(brandOf(brandId), listed.length > 0)
  }

  const parameters = shareParameters({
    forms: [own, ...forms],
    onChange,
    onOpen: (form, view) => {
      if (form !== own) {
        states.set(form, readState(view))
        if (listed.length > 0) press(form)
        return
      }
      ownChosen = view
      // Shows it again.
      showOwn(undefined, false)
      onChange()
      // The form itself has no box.
      own.parentElement?.scrollIntoView({ behavior: 'instant' })
    },
    onInput: (form) => keepInAddress(form),
  })
  const keyOf = enableKeyForm({
    brands,
    onBrands: (rows, key) => {
      list(rows, key)
      parameters.open()
    },
  })
  function list(rows: readonly Row[], key: string): void {
    listed = rows
    listedBy = key
    parameters.listBrands(rows)
  }
  const keepInAddress = (form: HTMLFormElement, query?: ApiRequest['query']) =>
    parameters.keepInAddress(form, form === own ? ownChosen : writeState(stateOf(form)), query)

  function stateOf(form: HTMLFormElement): ChartState {
    const state = states.get(form) ?? { off: new Set() }
    states.set(form, state)
    return state
  }

  const enabled = new Map<HTMLFormElement, Promise<ReturnType<typeof enableForm>>>()
  /** Does what a button of a form says. The first one loads that part of the page. */
  function press(form: HTMLFormElement, button?: HTMLButtonElement): void {
    const endpoint = endpointOf(form.dataset.endpoint)
    const options = {
      ...{ endpoint, endpoints, requestOf, state: () => stateOf(form) },
      onView: (query: ApiRequest['query']) => keepInAddress(form, query),
      brandOf: (id: string | undefined) => brandOf(id) ?? { id, name: 'Brand' },
      onResponse: ({ rows }: ApiResponse) => endpoint === brands && list(rows, keyOf()),
    }
    const part =
      enabled.get(form) ?? import('./endpoint-form.ts').then(({ enableForm }) => enableForm(form, options))
    enabled.set(form, part)
    loadPart(part, (work) => work(button), form)
  }
  for (const form of forms) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      const { submitter } = event
      if (isPaged(endpointOf(form.dataset.endpoint))) keepInAddress(form)
      press(form, submitter instanceof HTMLButtonElement ? submitter : undefined)
    })
  }
  enableCopy(find(HTMLButtonElement, '#own-copy'), () => request.textContent)
  enableCopy(find(HTMLButtonElement, '#copy-reference'), async () => (await fetch('docs.md')).text())
  for (const button of findAll(HTMLButtonElement, '[data-link]')) {
    const form = find(HTMLFormElement, `#${button.dataset.link}`)
    enableCopy(button, () => {
      keepInAddress(form)
      return location.href
    })
  }
  const changed = find(HTMLDetailsElement, '[data-changed]')
  const brandOfChanges = () => queryOf(find(HTMLElement, '#changes-try')).brandId ?? ''
  const watch = () =>
    loadPart(
      import('./what-changed.ts'),
      ({ watchChanges }) =>
        watchChanges(changed, {
          sourceOf: () => keyOf() + brandOfChanges(),
          readChanges: (since) =>
            readRows(requestOf(endpointOf('changes'), { since, brandId: brandOfChanges() })),
        }),
      changed,
    )
  changed.addEventListener('toggle', watch, { once: true })
  const program = find(HTMLDetailsElement, '[data-file]')
  const showProgram = (text: string) => showCode(find(HTMLElement, 'code', program), text, 'python')
  const readProgram = async () => (await fetch(program.dataset.file ?? '')).text()
  program.addEventListener('toggle', () => loadPart(readProgram(), showProgram, program), { once: true })
  addAnchors()
  offerSearch()
  markCurrent()
  const saved = find(HTMLElement, '#profile-state')
  find(HTMLButtonElement, '#profile').addEventListener('click', () =>
    loadPart(import('./profile.ts'), ({ saveProfile }) => saved.replaceChildren(saveProfile(keyOf())), saved),
  )
  whenNear(findAll(HTMLElement, '[data-samples]'), (element) => {
    samples ??= import('./sample-tabs.ts').then(({ showSamples }) => showSamples(sampleRequest))
    loadPart(samples, () => {}, element)
  })
  whenNear(findAll(HTMLElement, 'code[data-language]'), (code) =>
    showCode(code, code.textContent, code.getAttribute('data-language') ?? ''),
  )
}

/** Closes the long lists of a phone, and opens the one that a link leads into. */
function closeLists(): void {
  if (!matchMedia('(max-width: 43.99rem)').matches) return
  for (const list of findAll(HTMLDetailsElement, '.endpoint details')) list.open = false
  const follow = () => {
    const [id = ''] = location.hash.slice(1).split('?')
    document.getElementById(id)?.closest('details')?.setAttribute('open', '')
  }
  addEventListener('hashchange', follow)
  follow()
}
