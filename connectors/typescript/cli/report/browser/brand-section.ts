import { chart } from '../../../../../charts/chart.ts'
import { type DailyLines, dailyLines } from '../../../../../charts/daily-lines.ts'
import { createElement } from '../../../../../charts/elements.ts'
import { percent } from '../../../../../charts/legend.ts'
import { addDays } from '../../days.ts'
import type { BrandReport, MetricReport } from '../report-data.ts'
import { domainTable } from './domain-table.ts'
import { sumsFrom } from './sums-from.ts'

type Charted = MetricReport & DailyLines

export const sectionId = ({ id }: Pick<BrandReport, 'id'>): string => `brand-${id}`

/** Renders a brand over its last days, or all of them. */
export function brandSection(brand: BrandReport, lastDays: number | undefined): Node {
  const { name, days, metrics, cited } = brand
  const id = `${sectionId(brand)}-title`
  const first = days === null || lastDays === undefined ? '' : addDays(days.last, 1 - lastDays)
  const charted = metrics
    .map((metric) => ({ ...metric, ...dailyLines(sumsFrom(metric.sums, first)) }))
    .filter(({ days }) => days.length > 0)
  return createElement('section', { id: sectionId(brand), 'aria-labelledby': id }, [
    createElement('h2', { id }, [name]),
    createElement('p', { class: 'lead' }, facts(brand)),
    createElement('dl', { class: 'figures' }, charted.flatMap(figure)),
    createElement('div', { class: 'charts' }, [
      ...charted.map(({ title, about, ...lines }) =>
        chart({ ...lines, title, label: `${name}: ${title}`, note: about }),
      ),
      ...(cited.top.length === 0 ? [] : [domainTable(cited)]),
    ]),
  ])
}

/** Writes what the copy contains of a brand. */
function facts({ url, days, through }: BrandReport): Node[] {
  const parts = [
    ...(url === '' ? [] : [url]),
    days === null ? 'No rows' : `${days.first} to ${days.last}`,
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
