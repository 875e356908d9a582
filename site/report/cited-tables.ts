import { button, createElement, table } from '../charts/elements.ts'
import { percent } from '../charts/lines.ts'
import type { Cited, CitedRow } from './cited.ts'

const integer = new Intl.NumberFormat('en')

const percentOf = (part: number, whole: number): string => percent((part / whole) * 100)

type About = {
  /** The domain of the brand. */
  readonly domain: string
  /** What the share of the owned citations is called, if anything. */
  readonly rate?: string | undefined
}

/** Renders the pages and the domains that answers cite most. */
export function citedTables(cited: Cited, { domain, rate }: About): HTMLElement[] {
  const { citations, owned, pages, domains } = cited
  if (citations === 0) return []
  const own = domains.find(({ name }) => name === domain)?.owned ?? 0
  const name = rate ? `, a ${rate} of ${percentOf(owned, citations)}` : ''
  const share = `${integer.format(owned)} of ${integer.format(citations)} citations are owned${name}.`
  const rest = own < owned ? `${percentOf(own, citations)}; other owned domains have the rest` : 'all of them'
  const alone = own > 0 ? ` ${domain} alone has ${rest}.` : ''
  const unknown = domains.at(-1)?.name === '' ? ' “unknown” are URLs without a recorded domain.' : ''
  return [
    citedTable('Page', 'Owned pages first. Click a heading to sort.', pages, citations),
    citedTable('Domain', `${share}${alone}${unknown}`, domains, citations),
  ]
}

const COLUMNS = {
  Citations: ({ citations }: CitedRow) => citations,
  Owned: ({ owned }: CitedRow) => owned,
}

/** Renders a table that its headings sort, of rows and their shares of all citations. */
function citedTable(kind: string, about: string, of: readonly CitedRow[], all: number): HTMLElement {
  const holder = createElement('div', {})
  function show(rows: readonly CitedRow[], sorted?: string): void {
    const shown = table(
      [kind, ...Object.keys(COLUMNS), 'Of all'],
      rows.map(({ name, ...row }) => [
        name.replace(/^https?:\/\//, '') || 'unknown',
        ...[row.citations, row.owned].map(integer.format),
        percentOf(row.citations, all),
      ]),
    )
    for (const [index, [name, numberOf]] of Object.entries(COLUMNS).entries()) {
      const heading = shown.querySelectorAll('thead th')[index + 1]
      const sort = button(name, () => {
        const ranked = rows.toSorted((left, right) => numberOf(right) - numberOf(left))
        show(ranked, name)
        holder.querySelectorAll('button')[index]?.focus()
      })
      heading?.replaceChildren(sort)
      if (name === sorted) heading?.setAttribute('aria-sort', 'descending')
    }
    holder.replaceChildren(shown)
  }
  show(of)
  const title = createElement('strong', {}, [`Most cited ${kind.toLowerCase()}s`])
  const caption = createElement('figcaption', {}, [title, ` ${about}`])
  return createElement('figure', { class: 'chart cited' }, [caption, holder])
}
