import type { RequestContext } from '../samples/request.ts'
import { type Language, SAMPLES } from '../samples.ts'
import { find, findAll } from './dom.ts'
import { showCode } from './highlight.ts'

const isLanguage = (name: string | undefined): name is Language =>
  name !== undefined && Object.hasOwn(SAMPLES, name)

/** Moves between tabs, by the key that was pressed. */
const STEPS: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowRight: (at, count) => (at + 1) % count,
  ArrowLeft: (at, count) => (at + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
}

/** Shows the code of every endpoint in one language, the same everywhere; gives what shows it anew. */
export function showSamples(asked: (id: string) => RequestContext): () => void {
  const places = findAll(HTMLElement, '[data-samples]')
  let language: Language = 'curl'

  function show(): void {
    for (const place of places) {
      const id = place.dataset.samples ?? ''
      const panel = find(HTMLElement, 'pre', place)
      panel.setAttribute('aria-labelledby', `${id}-${language}`)
      showCode(find(HTMLElement, 'code', panel), SAMPLES[language].write(asked(id)), language)
      for (const tab of findAll(HTMLElement, '[role=tab]', place)) {
        const chosen = tab.dataset.language === language
        tab.setAttribute('aria-selected', String(chosen))
        tab.tabIndex = chosen ? 0 : -1
      }
    }
  }

  /** The choice is for all endpoints: what is above may grow or shrink, and the reader's place must not move. */
  function choose(tab: HTMLElement): void {
    if (!isLanguage(tab.dataset.language)) return
    const before = tab.getBoundingClientRect().top
    language = tab.dataset.language
    show()
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' })
  }

  for (const place of places) {
    const tabs = findAll(HTMLElement, '[role=tab]', place)
    for (const [index, tab] of tabs.entries()) {
      tab.addEventListener('click', () => choose(tab))
      tab.addEventListener('keydown', (event) => {
        const next = tabs[STEPS[event.key]?.(index, tabs.length) ?? -1]
        if (next === undefined) return
        event.preventDefault()
        next.focus()
        choose(next)
      })
    }
    const copy = find(HTMLButtonElement, '[data-copy]', place)
    copy.addEventListener('click', async () => {
      const copied = await navigator.clipboard.writeText(find(HTMLElement, 'code', place).textContent).then(
        () => 'Copied',
        () => 'Select and copy',
      )
      copy.textContent = copied
      setTimeout(() => {
        copy.textContent = 'Copy'
      }, 2000)
    })
  }
  show()
  return show
}
