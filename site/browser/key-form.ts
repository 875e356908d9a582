import { find } from '../charts/elements.ts'
import type { Row } from '../charts/sums.ts'
import type { Endpoint } from '../reference/endpoint.ts'
import { INVALID_KEY, readRows, SENDING } from './request.ts'

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
    const rows = await readRows({ path: brands.path, query: {}, key }, signal)
    if (signal.aborted) return
    const isFailed = typeof rows === 'string'
    state.classList.toggle('error', isFailed)
    input.ariaInvalid = String(rows === INVALID_KEY)
    onBrands(isFailed ? [] : rows, key)
    const names = isFailed ? [] : rows.map(({ name }) => String(name))
    state.replaceChildren(isFailed ? rows : `This key can read ${names.join(', ') || 'no brands'}.`)
  })

  const show = find(HTMLButtonElement, '#key-show')
  show.addEventListener('click', () => {
    const isHidden = input.classList.toggle('secret')
    show.setAttribute('aria-pressed', String(!isHidden))
  })
  return keyOf
}
