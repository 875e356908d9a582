import { createElement, find, findAll } from '../charts/elements.ts'
import { loadPart } from './on-demand.ts'

/** Moves to the search with `/` and Ctrl-K. The search is loaded when its input first has the focus. */
export function offerSearch(): void {
  const input = find(HTMLInputElement, '#search')
  const load = () =>
    loadPart(import('./search.ts'), ({ enableSearch }) => enableSearch(), find(HTMLElement, 'search'))
  input.addEventListener('focus', load, { once: true })
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea')
    if ((event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))) {
      event.preventDefault()
      input.focus()
    }
  })
}

/** Adds to headings and fields a link to them. */
export function addAnchors(): void {
  for (const element of findAll(HTMLElement, '.guide, .endpoint, .fields [id]')) {
    const title = find(HTMLElement, 'h2, dt', element)
    const name = title.firstChild?.textContent ?? ''
    const attributes = { class: 'anchor', href: `#${element.id}`, 'aria-label': `Link to ${name}` }
    title.append(' ', createElement('a', attributes, ['#']))
  }
}

/** Marks the link of the section that is in view. */
export function markCurrent(): void {
  const nav = find(HTMLElement, 'nav')
  const links = new Map(findAll(HTMLAnchorElement, 'a', nav).map((link) => [link.hash.slice(1), link]))
  const observer = new IntersectionObserver(
    (entries) => {
      const entry = entries.findLast(({ isIntersecting }) => isIntersecting)
      if (entry === undefined) return
      for (const [id, link] of links) {
        if (id !== entry.target.id) link.removeAttribute('aria-current')
        else {
          link.setAttribute('aria-current', 'true')
          nav.scrollLeft = link.offsetLeft - nav.clientWidth / 3
        }
      }
    },
    // A line below the header.
    { rootMargin: '-20% 0px -80% 0px' },
  )
  for (const section of findAll(HTMLElement, 'main > section')) observer.observe(section)
}
