import { createElement, find, findAll } from '../charts/elements.ts'

const MOST_FOUND = 8

/** Finds endpoints, fields, parameters, errors and guides by words. `/` and Ctrl-K move to the input. */
export function enableSearch(): void {
  const input = find(HTMLInputElement, '#search')
  const list = find(HTMLElement, '#found')
  const entries = findAll(
    HTMLElement,
    'section[id], .fields [id], h3[id], td[id]',
    find(HTMLElement, 'main'),
  ).map((element) => {
    const title = element.querySelector('h1, h2, dt')?.firstChild?.textContent ?? element.textContent
    const within = element.parentElement?.closest('section')?.querySelector('h2 > span')?.textContent ?? ''
    // A guide is found by all of its words.
    const words = element.matches('.guide') ? element.textContent : ''
    return { id: element.id, title, within, text: `${element.id} ${title} ${within} ${words}`.toLowerCase() }
  })
  const close = () => {
    list.hidden = true
    input.value = ''
  }
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
    const found = entries.filter(({ text }) => words.every((word) => text.includes(word)))
    // Those whose own name has the word come first, the shortest of them at the top.
    const rank = ({ title }: (typeof entries)[number]) =>
      title.length + (title.toLowerCase().includes(words[0] ?? '') ? 0 : 1000)
    const shown = found.toSorted((left, right) => rank(left) - rank(right)).slice(0, MOST_FOUND)
    const links = shown.map(({ id, title, within }) =>
      createElement('li', {}, [
        createElement('a', { href: `#${id}` }, [title, createElement('span', {}, [within])]),
      ]),
    )
    list.hidden = words.length === 0
    list.replaceChildren(...(links.length > 0 ? links : [createElement('li', {}, ['Nothing found.'])]))
  })
  list.addEventListener('click', close)
  find(HTMLElement, 'search').addEventListener('focusout', ({ currentTarget, relatedTarget }) => {
    const isInside = relatedTarget instanceof Node && currentTarget instanceof Node
    if (!(isInside && currentTarget.contains(relatedTarget))) list.hidden = true
  })
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea')
    if ((event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))) {
      event.preventDefault()
      input.focus()
    }
  })
  find(HTMLElement, 'search').addEventListener('keydown', (event) => {
    const links = findAll(HTMLAnchorElement, 'a', list)
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter' && event.target === input) links[0]?.click()
    if (event.key === 'Escape') close()
    if (event.key === 'Escape') input.focus()
    if (step === undefined) return
    event.preventDefault()
    const focused = links.findIndex((link) => link.matches(':focus'))
    ;(links[focused + step] ?? input).focus()
  })
}

/** Marks the link of the section that is in view. */
export function markCurrent(): void {
  const links = new Map(findAll(HTMLAnchorElement, 'nav a').map((link) => [link.hash.slice(1), link]))
  const observer = new IntersectionObserver(
    (entries) => {
      const entry = entries.findLast(({ isIntersecting }) => isIntersecting)
      if (entry === undefined) return
      for (const [id, link] of links) {
        if (id === entry.target.id) link.setAttribute('aria-current', 'true')
        else link.removeAttribute('aria-current')
      }
    },
    // A line below the header.
    { rootMargin: '-20% 0px -80% 0px' },
  )
  for (const section of findAll(HTMLElement, 'main > section')) observer.observe(section)
}
