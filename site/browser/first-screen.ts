import { createElement, find } from '../charts/elements.ts'
import type { Row } from '../charts/sums.ts'
import type { Endpoint } from '../reference/endpoint.ts'
import { NOT_LOADED } from './on-demand.ts'
import { type ApiRequest, FileError, NO_RESPONSE } from './request.ts'

type FirstScreen = {
  readonly endpoints: readonly Endpoint[]
  readonly requestOf: (endpoint: Endpoint, brand: Row) => ApiRequest
  /** What the reader chose. */
  readonly chosen: () => URLSearchParams
  /** Called after the reader chose something. */
  readonly onChange: () => void
}

/**
 * Returns a function that begins the page with the figures and charts of a brand of those that are listed, once they are
 * in view.
 */
export function enableFirstScreen({ endpoints, requestOf, chosen, onChange }: FirstScreen) {
  const section = find(HTMLElement, '#introduction')
  const part = (id: string) => find(HTMLElement, id, section)
  const [intro, own, status] = [part('#intro'), part('#own'), part('#own-state')]
  const [figures, controls] = [part('#own-brand'), part('#own-controls')]
  let wanted: Row | undefined
  let isShown = false
  let controller = new AbortController()

  function say(text: string): void {
    status.ariaBusy = null
    status.replaceChildren(text)
  }

  async function show(brand: Row): Promise<void> {
    isShown = true
    // A screen reader would read every number.
    status.ariaBusy = 'true'
    controller = new AbortController()
    const { signal } = controller
    const main = createElement('div')
    figures.append(main)
    const reading = { signal, onProgress: (text: string) => status.replaceChildren(text) }
    const library = await import('./live-report.ts').catch(() => undefined)
    if (library === undefined) return say(NOT_LOADED)
    try {
      const source = { endpoints, brand, reading, requestOf: (of: Endpoint) => requestOf(of, brand) }
      const show = library.showBrands({
        ...{ periods: library.PERIODS, period: 'Last 30 days', chosen: chosen(), onChange, controls, main },
        ...{ source: location.host, isFolded: true, explain: library.explain },
      })
      for await (const report of library.readReport(source)) {
        if (signal.aborted) return
        show([report])
      }
      say('')
    } catch (error) {
      if (signal.aborted) return
      // The other requests would go on to say how many rows they have.
      controller.abort()
      say(error instanceof FileError ? error.message : NO_RESPONSE)
    }
  }

  const showWanted = () => {
    if (wanted && !isShown && isInView) void show(wanted)
  }
  let isInView = false
  new IntersectionObserver(([entry]) => {
    isInView = entry?.isIntersecting === true
    showWanted()
  }).observe(section)
  return (brand: Row | undefined, isListed: boolean): void => {
    if (brand !== wanted) {
      // Nothing stays of another brand or key.
      controller.abort()
      isShown = false
      for (const each of [figures, controls, status]) each.replaceChildren()
    }
    wanted = brand
    intro.hidden = isListed
    own.hidden = !isListed
    if (brand === undefined) say('Choose a brand that the key reads.')
    showWanted()
  }
}
