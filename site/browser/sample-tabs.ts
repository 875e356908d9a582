import { createElement, find, findAll } from '../charts/elements.ts'
import type { SampleRequest } from '../curl-sample.ts'
import { type Language, SAMPLES } from '../samples.ts'
import { enableCopy } from './copy.ts'
import { showCode } from './highlight.ts'

const isLanguage = (name: string | undefined): name is Language =>
  name !== undefined && Object.hasOwn(SAMPLES, name)

/** The next tab's index, by the key that was pressed. */
const KEYS: Readonly<Record<string, (index: number, count: number) => number>> = {
  ArrowRight: (index, count) => (index + 1) % count,
  ArrowLeft: (index, count) => (index + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
}

/** Shows the code samples of all endpoints in one selected language. Returns a function that renders them again. */
export function showSamples(requestOf: (id: string) => SampleRequest): () => void {
  const containers = findAll(HTMLElement, '[data-samples]')
  let language: Language = 'curl'

  function render(): void {
    for (const container of containers) {
      const id = container.dataset.samples ?? ''
      const panel = find(HTMLElement, 'pre', container)
      panel.setAttribute('aria-labelledby', `${id}-${language}`)
      showCode(find(HTMLElement, 'code', panel), SAMPLES[language].write(requestOf(id)), language)
      for (const tab of findAll(HTMLElement, '[role=tab]', container)) {
        const isSelected = tab.dataset.language === language
        tab.setAttribute('aria-selected', String(isSelected))
        tab.tabIndex = isSelected ? 0 : -1
      }
    }
  }

  /** Selects a language everywhere, and scrolls so that the tab does not move when samples above it change height. */
  function select(tab: HTMLElement): void {
    if (!isLanguage(tab.dataset.language)) return
    const top = tab.getBoundingClientRect().top
    language = tab.dataset.language
    render()
    scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: 'instant' })
  }

  for (const container of containers) {
    const id = container.dataset.samples ?? ''
    const tabs: HTMLElement[] = Object.entries(SAMPLES).map(([name, { label }], index) => {
      const target = { id: `${id}-${name}`, 'aria-controls': `${id}-code`, 'data-language': name }
      const tab = createElement('button', { type: 'button', class: 'quiet', role: 'tab', ...target }, [label])
      tab.addEventListener('click', () => select(tab))
      tab.addEventListener('keydown', (event) => {
        const next = tabs[KEYS[event.key]?.(index, tabs.length) ?? -1]
        if (next === undefined) return
        event.preventDefault()
        next.focus()
        select(next)
      })
      return tab
    })
    const copy = createElement('button', { type: 'button', class: 'quiet' }, ['Copy'])
    enableCopy(copy, () => find(HTMLElement, 'code', container).textContent)
    find(HTMLElement, 'pre', container).setAttribute('role', 'tabpanel')
    const label = `Code samples of /${id}`
    find(HTMLElement, '.bar', container).append(
      createElement('div', { role: 'tablist', 'aria-label': label }, tabs),
      copy,
    )
  }
  render()
  return render
}
