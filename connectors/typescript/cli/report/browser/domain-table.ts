import { createElement } from '../../../../../charts/elements.ts'
import { percent } from '../../../../../charts/legend.ts'
import type { CitedDomains } from '../report-data.ts'

const integer = new Intl.NumberFormat('en')

/** Renders the domains that answers cite most, over all days. */
export function domainTable({ title, citations: total, top }: CitedDomains): Node {
  const head = ['Domain', 'Citations', 'Of all'].map((name) => createElement('th', { scope: 'col' }, [name]))
  const rows = top.map(({ domain, citations }) =>
    createElement('tr', {}, [
      createElement('th', { scope: 'row' }, [domain ?? 'unknown']),
      createElement('td', {}, [integer.format(citations)]),
      createElement('td', {}, [percent((citations / total) * 100)]),
    ]),
  )
  const table = createElement('table', {}, [
    createElement('caption', {}, [
      createElement('strong', {}, [title]),
      ` on all days: the domains with the most of ${integer.format(total)} citations.`,
    ]),
    createElement('thead', {}, [createElement('tr', {}, head)]),
    createElement('tbody', {}, rows),
  ])
  return createElement('div', {}, [table])
}
