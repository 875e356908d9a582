import { createElement } from '../../../../../charts/elements.ts'
import { percent } from '../../../../../charts/legend.ts'
import type { CitedDomain } from '../report-data.ts'

const integer = new Intl.NumberFormat('en')

type Table = {
  readonly title: string
  readonly period: string
  readonly citations: number
  readonly top: readonly CitedDomain[]
}

/** Renders the domains that answers cite most in a period. */
export function domainTable({ title, period, citations: total, top }: Table): Node {
  const head = ['Domain', 'Citations', 'Of all'].map((name) => createElement('th', { scope: 'col' }, [name]))
  const rows = top.map(({ domain, citations }) =>
    createElement('tr', {}, [
      createElement('th', { scope: 'row' }, breakable(domain ?? 'unknown')),
      createElement('td', {}, [integer.format(citations)]),
      createElement('td', {}, [percent((citations / total) * 100)]),
    ]),
  )
  const table = createElement('table', {}, [
    createElement('caption', {}, [
      createElement('strong', {}, [title]),
      ` The most cited domains. ${period}: ${integer.format(total)} citations.`,
    ]),
    createElement('thead', {}, [createElement('tr', {}, head)]),
    createElement('tbody', {}, rows),
  ])
  return createElement('div', {}, [table])
}

/** Lets a domain break after its dots. */
const breakable = (domain: string): (Node | string)[] =>
  domain.split('.').flatMap((part, index) => (index === 0 ? [part] : ['.', createElement('wbr'), part]))
