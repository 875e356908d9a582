import { find } from '../charts/elements.ts'
import type { Row } from '../charts/sums.ts'
import type { Endpoint } from '../reference/endpoint.ts'
import { errorOf, NO_RESPONSE, SENDING, sendRequest } from './request.ts'

type KeyForm = {
  readonly brands: Endpoint
  /** Called with the brands that a key can read; none after an error. */
  readonly onBrands: (rows: readonly Row[], key: string) => void
}

/** Makes the form of the key show the brands that it can read. Returns a function that reads the key. */
export function enableKeyForm({ brands, onBrands }: KeyForm): () => string {
  const input = find(HTMLInputElement, '#key-input')
  const state = find(HTMLElement, '#key-state')
  const keyOf = () => input.value.trim()
  let controller = new AbortController()

  find(HTMLFormElement, '#key').addEventListener('submit', async (event) => {
    event.preventDefault()
    state.replaceChildren(SENDING)
    controller.abort()
    controller = new AbortController()
    const [{ signal }, key] = [controller, keyOf()]
    const response = await sendRequest({ path: brands.path, query: {}, key }, signal)
    if (signal.aborted) return
    state.classList.toggle('error', response?.status !== 200)
    input.ariaInvalid = String(response?.status === 401)
    const rows = response?.status === 200 ? response.rows : []
    onBrands(rows, key)
    if (response === null) return state.replaceChildren(NO_RESPONSE)
    if (response.status === 401) return state.replaceChildren('This key is not valid.')
    if (response.status !== 200) return state.replaceChildren(`${response.status}: ${errorOf(response)}`)
    const names = rows.map(({ name }) => String(name)).join(', ')
    state.replaceChildren(names === '' ? 'This key can read no brands.' : `This key can read ${names}.`)
  })

  const show = find(HTMLButtonElement, '#key-show')
  show.addEventListener('click', () => {
    const isHidden = input.classList.toggle('secret')
    show.setAttribute('aria-pressed', String(!isHidden))
  })
  return keyOf
}
