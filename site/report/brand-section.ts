import { type ChartState, chart } from '../charts/chart.ts'
import { createElement, find, scrollable, table } from '../charts/elements.ts'
import { hasParts } from '../charts/sums.ts'
import { whyItMoved } from '../charts/why.ts'
import { type Figures, type Filter, figuresOf, isFiltered } from './figures.ts'
import { type Period, periodOf } from './periods.ts'
import type { BrandReport, CitedDomains } from './report-data.ts'
import { summarize } from './sentences.ts'
import { tile } from './tile.ts'

/** What to show of the brands. Keeps what the reader chooses in each chart. */
export type View = {
  readonly period: string
  readonly where: Filter
  readonly states: Map<string, ChartState>
}

export const sectionId = ({ id }: Pick<BrandReport, 'id'>): string => `brand-${id}`

/** Renders a brand over a period. */
export function brandSection(brand: BrandReport, view: View): HTMLElement {
  const id = sectionId(brand)
  const heading = createElement('h2', { id: `${id}-title` }, [brand.name])
  const section = createElement('section', { id, 'aria-labelledby': heading.id }, [heading])
  if (brand.days === null) {
    section.append(createElement('p', { class: 'facts' }, ['No rows']))
    return section
  }
  const period = periodOf(view.period, brand.days)
  const shown = brand.metrics
    .flatMap((metric) => figuresOf(metric, period, view.where))
    .map((figures) => ({ ...figures, card: card(brand, figures, period, view) }))
  const tiles = shown.flatMap(({ card, ...figures }) =>
    // The brand among its competitors is the tile of its visibility.
    figures.lead === undefined || figures.metric.name === 'competitors'
      ? []
      : [tile(figures, figures.lead, () => showDays(card))],
  )
  const cited = brand.cited[view.period]
  section.append(
    createElement('p', { class: 'facts' }, facts(brand, period, view)),
    createElement('p', { class: 'lead' }, [sentenceOf(shown, view)]),
    createElement('div', { class: 'tiles' }, tiles),
    createElement('div', { class: 'charts' }, [
      ...shown.map(({ card }) => card),
      ...(cited?.total ? [domainTable(cited)] : []),
      ...(brand.replaced.length > 0 ? [replacedTable(`${brand.name}: what changed`, brand.replaced)] : []),
    ]),
  )
  return section
}

/** Says whether the brand does better or worse. */
function sentenceOf(shown: readonly Figures[], view: View): string {
  const figuresOf = (name: string) => shown.find(({ metric }) => metric.name === name)
  const { lead: visibility, others: models = [] } = figuresOf('visibility') ?? {}
  if (visibility === undefined) return 'No answers in this period.'
  const competitors = isFiltered(view.where) ? [] : (figuresOf('competitors')?.others ?? [])
  return summarize({ visibility, competitors, models })
}

/** Renders the chart of a metric. */
function card(
  brand: BrandReport,
  { metric, scope }: Figures,
  { from, to, before }: Period,
  view: View,
): HTMLElement {
  const { name, title, about, splits, sums } = metric
  const [key, label] = [`${brand.id} ${name}`, `${brand.name}: ${title}`]
  const state = view.states.get(key) ?? { off: new Set() }
  view.states.set(key, state)
  const note = `${about} ${scope}`.trim()
  const { where } = view
  const explanation =
    before && hasParts(sums)
      ? () => whyItMoved({ title, label, splits, sums, before, now: { from, to }, where })
      : undefined
  return chart({ title, label, note, splits, sums, from, to, where, explanation, state })
}

/** Opens the numbers of a chart and moves there. */
function showDays(card: HTMLElement): void {
  const [details, summary] = [find(HTMLDetailsElement, 'details', card), find(HTMLElement, 'summary', card)]
  details.open = true
  summary.focus({ preventScroll: true })
  summary.scrollIntoView({ block: 'center' })
}

/** Writes what the section shows: the days, the filters, and how current the copy is. */
function facts({ url, asOf }: BrandReport, { from, to, before }: Period, view: View): Node[] {
  const parts = [
    url,
    `${view.period}: ${from} to ${to}`,
    before ? `Compared with ${before.from} to ${before.to}` : 'No earlier period to compare with',
    isFiltered(view.where) ? `Visibility in ${Object.values(view.where).join(', ')} only` : '',
    asOf === null ? 'The sync has not finished' : `As of ${asOf.slice(0, 16).replace('T', ' ')} UTC`,
  ]
  return parts.filter((part) => part !== '').map((part) => createElement('span', {}, [part]))
}

const integer = new Intl.NumberFormat('en')

/** Renders the days that changed after they were copied. */
const replacedTable = (label: string, rows: BrandReport['replaced']): HTMLElement =>
  createElement('figure', { class: 'chart replaced' }, [
    createElement('figcaption', {}, [
      createElement('strong', {}, ['What changed']),
      ' The days that the latest syncs replaced, and why.',
    ]),
    createElement('div', scrollable(label), [table(['Copied', 'Metric', 'Days', 'Rows', 'Why'], rows)]),
  ])

/** Renders the domains that answers cite most in a period. */
function domainTable({ domains, total }: CitedDomains): HTMLElement {
  const rows = domains.map(([domain, citations]) => [
    domain || 'unknown',
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
