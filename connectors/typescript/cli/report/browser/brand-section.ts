import { chart } from '../../../../../charts/chart.ts'
import { type ChartLines, chartLines, type Unit } from '../../../../../charts/chart-lines.ts'
import { createElement } from '../../../../../charts/elements.ts'
import { percent } from '../../../../../charts/legend.ts'
import { firstDay } from '../periods.ts'
import type { BrandReport, MetricReport } from '../report-data.ts'
import { domainTable } from './domain-table.ts'
import { sumsFrom } from './sums-from.ts'

type Charted = MetricReport & ChartLines

/** The days to show, and what a point stands for. */
type View = { readonly period: string; readonly unit: Unit | undefined }

export const sectionId = ({ id }: Pick<BrandReport, 'id'>): string => `brand-${id}`

/** Renders a brand over a period. */
export function brandSection(brand: BrandReport, { period, unit }: View): Node {
  const { name, days, metrics, cited } = brand
  const id = `${sectionId(brand)}-title`
  const first = firstDay(period, days?.last)
  const charted = metrics
    .map((metric) => ({ ...metric, ...chartLines(sumsFrom(metric.sums, first), unit) }))
    .filter(({ points }) => points.length > 0)
  const domains = cited.periods[period]
  return createElement('section', { id: sectionId(brand), 'aria-labelledby': id }, [
    createElement('h2', { id }, [name]),
    createElement('p', { class: 'lead' }, facts(brand, period)),
    createElement('dl', { class: 'figures' }, charted.flatMap(figure)),
    createElement('div', { class: 'charts' }, [
      ...charted.map(({ title, about, ...lines }) =>
        chart({ ...lines, title, label: `${name}: ${title}`, note: about, period }),
      ),
      ...(domains?.top.length ? [domainTable({ ...domains, title: cited.title, period })] : []),
    ]),
  ])
}

/** Writes what the copy contains of a brand, and the days that the section shows. */
function facts({ url, days, through }: BrandReport, period: string): Node[] {
  const first = firstDay(period, days?.last)
  const parts = [
    ...(url === '' ? [] : [url]),
    days === null ? 'No rows' : `${period}: ${first > days.first ? first : days.first} to ${days.last}`,
    through === null
      ? 'The sync has not finished'
      : `Contains all changes through ${through.slice(0, 16).replace('T', ' ')} UTC`,
  ]
  return parts.map((part) => createElement('span', {}, [part]))
}

/** Renders the figure of a metric when its first line is the brand's. */
function figure({ title, lead, lines: [first] }: Charted): Node[] {
  if (first === undefined || !(lead || first.name === title)) return []
  return [
    createElement('div', {}, [
      createElement('dt', {}, [title]),
      createElement('dd', {}, [percent(first.figure)]),
    ]),
  ]
}
