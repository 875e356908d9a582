import { createElement, table } from '../../../../../site/charts/elements.ts'
import type { CitedDomains } from '../report-data.ts'

const integer = new Intl.NumberFormat('en')

/** Renders the domains that answers cite most in a period. */
export function domainTable({ domains, total }: CitedDomains): HTMLElement {
  const rows = domains.map(([domain, citations]) => [
    domain === '' ? 'unknown' : breakable(domain),
    integer.format(citations),
    `${((citations / total) * 100).toFixed(2)} %`,
  ])
  const about = '“unknown” are cited URLs for which no domain was recorded.'
  return createElement('figure', { class: 'chart cited' }, [
    createElement('figcaption', {}, [
      createElement('strong', {}, ['Cited domains']),
      ` The domains that answers cite most, of ${integer.format(total)} citations.`,
    ]),
    table(['Domain', 'Citations', 'Of all'], rows),
    ...(domains.at(-1)?.[0] === '' ? [createElement('p', { class: 'facts' }, [about])] : []),
  ])
}

/** Lets a domain break after its dots. */
function breakable(domain: string): HTMLElement {
  const parts = domain.split(/(?<=\.)/)
  return createElement(
    'span',
    {},
    parts.flatMap((part) => [part, createElement('wbr')]),
  )
}
