import { createElement, find, findAll } from '../charts/elements.ts'

const MOST_FOUND = 8

/** What the search finds. */
type Entry = {
  readonly id: string
  readonly title: string
  readonly isHeading: boolean
  /** The title of the section around it. */
  readonly within: string
  /** The text of a guide, which is found by all of its words. */
  readonly content: string
}

/** Finds endpoints, fields, parameters, errors and guides by words. */
export function enableSearch(): void {
  const input = find(HTMLInputElement, '#search')
  const list = find(HTMLElement, '#found')
  const entries = findAll(
    HTMLElement,
    'section[id], .fields [id], h3[id], td[id]',
    find(HTMLElement, 'main'),
  ).map(entryOf)
  const close = () => {
    list.hidden = true
    input.value = ''
  }
  function show(): void {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
    const links = findEntries(entries, words).map((entry) =>
      createElement('li', {}, [
        createElement('a', { href: `#${entry.id}` }, [
          entry.title,
          createElement('span', {}, [entry.within || snippet(entry, words)]),
        ]),
      ]),
    )
    list.hidden = words.length === 0
    list.replaceChildren(...(links.length > 0 ? links : [createElement('li', {}, ['Nothing found.'])]))
  }
  input.addEventListener('input', show)
  list.addEventListener('click', close)
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
  // What was entered before this was loaded.
  show()
}

function entryOf(element: HTMLElement): Entry {
  const heading = element.querySelector('h1, h2, dt')
  const title = heading?.firstChild?.textContent ?? element.textContent
  const within = element.parentElement?.closest('section')?.querySelector('h2')?.firstChild?.textContent ?? ''
  const text = element.textContent.replace(heading?.textContent ?? '', '').replace(/\s+/g, ' ')
  const content = element.matches('.guide') ? text : ''
  return { id: element.id, title, isHeading: element.matches('section, h3'), within, content }
}

/** Returns the entries with all words. Headings with one of them come first, then what has most of them in its name. */
function findEntries(entries: readonly Entry[], words: readonly string[]): Entry[] {
  const has = (text: string) => (word: string) => text.toLowerCase().includes(word)
  const rank = ({ title, isHeading, content }: Entry) => {
    const hits = words.filter(has(title)).length
    const times = content.toLowerCase().split(words.join(' ')).length
    return (isHeading && hits > 0 ? 10_000 : 0) + 1000 * hits + times - title.length
  }
  return entries
    .filter(({ id, title, within, content }) => words.every(has(`${id} ${title} ${within} ${content}`)))
    .toSorted((left, right) => rank(right) - rank(left))
    .slice(0, MOST_FOUND)
}

/** Returns the text around the first match in a guide. */
function snippet({ content }: Entry, words: readonly string[]): string {
  const text = content.toLowerCase()
  const match = [words.join(' '), ...words].map((part) => text.indexOf(part)).find((index) => index >= 0) ?? 0
  const start = content.lastIndexOf(' ', Math.max(0, match - 30)) + 1
  return content.slice(start).replace(/^(.{90}\S*).*/, '… $1 …')
}
