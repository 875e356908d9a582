import { createElement, table } from '../charts/elements.ts'
import type { Cited, CitedRow } from './cited.ts'

const integer = new Intl.NumberFormat('en')

const percentOf = (part: number, whole: number): string =>
  whole === 0 ? 'none' : `${((part / whole) * 100).toFixed(2)} %`

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
    citedTable('page', 'Owned pages first. Click a heading to sort.', { of: pages, citations }),
    citedTable('domain', `${share}${alone}${unknown}`, { of: domains, citations }),
  ]
}

type Listed = {
  readonly of: readonly CitedRow[]
  /** All, of which the rows have shares. */
  readonly citations: number
}

const COLUMNS = {
  Citations: ({ citations }: CitedRow) => citations,
  Owned: ({ owned }: CitedRow) => owned,
}

/** Renders a table that its headings sort. */
function citedTable(kind: 'page' | 'domain', about: string, { of, citations }: Listed): HTMLElement {
  const holder = createElement('div', {})
  function show(rows: readonly CitedRow[], sorted?: string): void {
    const shown = table(
      [kind === 'page' ? 'Page' : 'Domain', ...Object.keys(COLUMNS), 'Of all'],
      rows.map(({ name, ...row }) => [
        name.replace(/^https?:\/\//, '') || 'unknown',
        ...[row.citations, row.owned].map(integer.format),
        percentOf(row.citations, citations),
      ]),
    )
    for (const [index, [name, numberOf]] of Object.entries(COLUMNS).entries()) {
      const heading = shown.querySelectorAll('thead th')[index + 1]
      const button = createElement('button', { type: 'button', class: 'sort' }, [name])
      button.addEventListener('click', () => {
        show(
          rows.toSorted((left, right) => numberOf(right) - numberOf(left)),
          name,
        )
        holder.querySelectorAll('button')[index]?.focus()
      })
      heading?.replaceChildren(button)
      if (name === sorted) heading?.setAttribute('aria-sort', 'descending')
    }
    holder.replaceChildren(shown)
  }
  show(of)
  return createElement('figure', { class: 'chart cited' }, [
    createElement('figcaption', {}, [createElement('strong', {}, [`Most cited ${kind}s`]), ` ${about}`]),
    holder,
  ])
}
