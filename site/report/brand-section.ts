import { type ChartState, chart } from '../charts/chart.ts'
import { createElement, find, scrollable, table } from '../charts/elements.ts'
import { hasParts } from '../charts/sums.ts'
import type { Change as WhyChange } from '../charts/why.ts'
import { citedTables } from './cited-tables.ts'
import { type Figures, type Filter, figuresOf, isFiltered } from './figures.ts'
import { type Period, periodOf } from './periods.ts'
import type { BrandReport } from './report-data.ts'
import { summarize } from './sentences.ts'
import { tile } from './tile.ts'

/** What to show of the brands. Keeps what the reader chooses in each chart. */
export type View = {
  readonly period: string
  readonly where: Filter
  readonly states: Map<string, ChartState>
  /** Where the rows come from, on saved charts. */
  readonly source: string
  /** Renders why a rate moved. */
  readonly explain: (change: WhyChange) => Node
  /** Whether only the first chart is open. */
  readonly isFolded: boolean
}

export const sectionId = ({ id }: Pick<BrandReport, 'id'>): string => `brand-${id}`

/** Renders a brand over a period. */
export function brandSection(brand: BrandReport, view: View): HTMLElement {
  const id = sectionId(brand)
  const heading = createElement('h2', { id: `${id}-title` }, [brand.name])
  const section = createElement('section', { id, 'aria-labelledby': heading.id }, [heading])
  if (brand.days === null) {
    section.append(createElement('p', { class: 'facts' }, ['No rows to show']))
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
  const told = isFiltered(view.where) ? shown.filter(({ metric }) => metric.name === 'visibility') : shown
  const cited = brand.cited[view.period]
  const cards = [
    ...shown.map(({ card }) => card),
    ...(cited ? citedTables(cited, { domain: brand.url, rate: 'Citation Share' }) : []),
    ...(brand.replaced.length > 0 ? [replacedTable(`${brand.name}: what changed`, brand.replaced)] : []),
  ]
  const first = view.isFolded ? 1 : cards.length
  section.append(
    createElement('p', { class: 'facts' }, facts(brand, period, view)),
    createElement('p', { class: 'lead' }, [summarize(told)]),
    createElement('div', { class: 'tiles' }, tiles),
    createElement('div', { class: 'charts' }, cards.slice(0, first)),
  )
  if (view.isFolded) {
    const rest = createElement('div', { class: 'charts' }, cards.slice(first))
    const summary = 'Full report: all charts, the most cited pages and domains'
    const full = [createElement('summary', {}, [summary]), rest]
    section.append(createElement('details', { id: 'report' }, full))
  }
  return section
}

/** Renders the chart of a metric. */
function card(
  brand: BrandReport,
  { metric, scope, before }: Figures,
  { from, to }: Period,
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
      ? () => view.explain({ title, label, splits, sums, before, now: { from, to }, where })
      : undefined
  // Only the rows of visibility have models and markets.
  const filtered = name === 'visibility' ? Object.values(where) : []
  const saved = { brand: [brand.name, ...filtered].join(', '), source: view.source }
  return chart({ title, label, note, splits, sums, from, to, where, explanation, state, ...saved })
}

/** Opens the numbers of a chart, and what the chart is in, and moves there. */
function showDays(card: HTMLElement): void {
  const [details, summary] = [find(HTMLDetailsElement, 'details', card), find(HTMLElement, 'summary', card)]
  for (const each of [details, card.closest('details')]) if (each) each.open = true
  summary.focus({ preventScroll: true })
  summary.scrollIntoView({ block: 'center' })
}

/** Writes what the section shows: the days, the filters, and how current the copy is. */
function facts({ url, asOf }: BrandReport, { from, to, before }: Period, view: View): Node[] {
  const parts = [
    url,
    `${view.period}: ${from} to ${to}`,
    before ? `Compared with ${before.from} to ${before.to}` : 'No earlier period to compare with',
    isFiltered(view.where) ? `Visibility for ${Object.values(view.where).join(', ')} only` : '',
    asOf === null ? 'The sync has not finished' : `As of ${asOf.slice(0, 16).replace('T', ' ')} UTC`,
  ]
  return parts.filter(Boolean).map((part) => createElement('span', {}, [part]))
}

/** Renders the days that changed after they were copied. */
const replacedTable = (label: string, rows: BrandReport['replaced']): HTMLElement =>
  createElement('figure', { class: 'chart replaced' }, [
    createElement('figcaption', {}, [
      createElement('strong', {}, ['What changed']),
      ' The days that the latest syncs replaced, and why.',
    ]),
    createElement('div', scrollable(label), [table(['Copied', 'Metric', 'Days', 'Rows', 'Why'], rows)]),
  ])
