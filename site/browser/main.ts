import { readApiKey } from '../../lib/request/api-key.ts'
import { find, findAll, save } from '../charts/elements.ts'
import type { Row } from '../charts/sums.ts'
import type { SampleRequest } from '../curl-sample.ts'
import { type Endpoint, isPaged } from '../reference/endpoint.ts'
import { shareProfile } from '../reference/share-profile.ts'
import { enableForm } from './endpoint-form.ts'
import { showCode } from './highlight.ts'
import { addAnchors, markCurrent, offerSearch } from './navigation.ts'
import { loadPart, whenNear } from './on-demand.ts'
import { queryOf, shareParameters } from './parameters.ts'
import { sendRequest } from './request.ts'
import { errorOf, NO_RESPONSE, readRows, SENDING } from './response-view.ts'

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

  let samples: Promise<() => void> | undefined
  const { listBrands, keepInAddress } = shareParameters({
    forms,
    onChange: () => samples?.then((render) => render()).catch(() => undefined),
  })
  const keyOf = enableKeyForm({ brands, onBrands: listBrands })
  for (const form of forms) {
    const endpoint = endpointOf(form.dataset.endpoint)
    enableForm(form, {
      endpoint,
      endpoints,
      keyOf,
      onSend: () => isPaged(endpoint) && keepInAddress(form),
      onResponse: ({ rows }) => endpoint === brands && listBrands(rows),
    })
  }
  const changed = find(HTMLDetailsElement, '[data-changed]')
  const read = ({ path }: Endpoint, query = {}) => readRows({ path, query, key: keyOf() })
  const changes = endpointOf('changes')
  const watch = () =>
    loadPart(
      import('./what-changed.ts'),
      ({ watchChanges }) =>
        watchChanges(changed, {
          keyOf,
          readChanges: (since) => read(changes, { since }),
          readBrands: () => read(brands),
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
  enableButtons(keyOf)
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

/** Makes the buttons work that belong to no endpoint. */
function enableButtons(keyOf: () => string): void {
  const onClick = (id: string, work: () => string | Promise<string>) =>
    find(HTMLButtonElement, id).addEventListener('click', async () => {
      find(HTMLElement, `${id}-state`).replaceChildren(await work())
    })
  onClick('#profile', () => {
    const key = readApiKey(keyOf())
    if (key === null) return 'Enter your API key first: svc_live_ and 64 hexadecimal digits.'
    save('export.share', new Blob([shareProfile(location.origin, key)]))
    return 'Saved export.share. It contains your key.'
  })
  onClick('#assistant', async () => {
    try {
      await navigator.clipboard.writeText(await (await fetch('docs.md')).text())
      return 'Copied docs.md.'
    } catch {
      return 'Copy failed. Open docs.md instead.'
    }
  })
}

type KeyForm = {
  readonly brands: Endpoint
  /** Called with the brands that the key can read. */
  readonly onBrands: (rows: readonly Row[]) => void
}

/** Makes the form of the key show the brands that it can read. Returns a function that reads the key. */
function enableKeyForm({ brands, onBrands }: KeyForm): () => string {
  const input = find(HTMLInputElement, '#key-input')
  const state = find(HTMLElement, '#key-state')
  const keyOf = () => input.value.trim()

  find(HTMLFormElement, '#key').addEventListener('submit', async (event) => {
    event.preventDefault()
    state.replaceChildren(SENDING)
    const response = await sendRequest({ path: brands.path, query: {}, key: keyOf() })
    state.classList.toggle('error', response?.status !== 200)
    input.ariaInvalid = String(response?.status === 401)
    if (response === null) return state.replaceChildren(NO_RESPONSE)
    if (response.status === 401) return state.replaceChildren(`This key is not valid. ${errorOf(response)}`)
    if (response.status !== 200) return state.replaceChildren(`${response.status}: ${errorOf(response)}`)
    onBrands(response.rows)
    const names = response.rows.map(({ name }) => String(name)).join(', ')
    state.replaceChildren(names === '' ? 'This key can read no brands.' : `This key can read ${names}.`)
  })

  const show = find(HTMLButtonElement, '#key-show')
  show.addEventListener('click', () => {
    const isHidden = input.classList.toggle('secret')
    show.setAttribute('aria-pressed', String(!isHidden))
  })
  return keyOf
}
