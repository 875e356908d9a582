import { button, createElement, disclosure, save, scrollable, select, table } from './elements.ts'
import {
  FEW_ANSWERS,
  type Lines,
  linesOf,
  periodOf,
  rateOf,
  type Split,
  type Unit,
  type View,
} from './lines.ts'
import { type Plot, percent, plotOf } from './plot.ts'
import type { Sums } from './sums.ts'

/** What a reader chose in a chart, which the chart changes. Pass it to the next chart to keep it. */
export type ChartState = {
  split?: string | undefined
  unit?: Unit | undefined
  readonly off: Set<string>
  zoom?: { readonly from: string; readonly to: string } | undefined
}

type Chart = Pick<View, 'from' | 'to' | 'where'> & {
  readonly title: string
  /** Names it among the charts of the page. The title by default. */
  readonly label?: string
  /** What a reader should know about it. */
  readonly note?: string
  /** What it can have a line for each of; the first by default. */
  readonly splits: readonly Split[]
  readonly sums: Sums
  /** Renders why its rates moved. */
  readonly explanation?: (() => Node) | undefined
  readonly state?: ChartState
  readonly brand?: string
  readonly source?: string
  readonly onChange?: () => void
}

const UNITS: Readonly<Record<string, Unit | undefined>> = { Automatic: undefined, Days: 'day', Weeks: 'week' }

/** Renders the line chart of a metric: what it shows, the plot, and its numbers. */
export function chart({
  title,
  label = title,
  note,
  splits,
  sums,
  explanation,
  state = { off: new Set() },
  brand: _brand,
  source: _source,
  onChange: _onChange,
  ...view
}: Chart) {
  const [caption, content] = [createElement('figcaption'), createElement('div')]
  let plot: Plot | undefined
  const choose = (change: Partial<ChartState>) => {
    Object.assign(state, change)
    render()
  }
  const saveAs = (extension: string, file: Blob | null) => {
    if (file !== null) save(`${label.replaceAll(':', '')}, ${plot?.shown().period}.${extension}`, file)
  }
  const units = Object.keys(UNITS)
  const unit = units.find((name) => UNITS[name] === state.unit)
  const labels = splits.map(({ label }) => label)
  const tools = createElement('div', { class: 'tools' }, [
    ...(labels.length < 2 ? [] : [select('Lines', labels, state.split, (split) => choose({ split }))]),
    select('Points', units, unit, (name) => choose({ unit: UNITS[name] })),
    button('Chart as CSV', () => saveAs('csv', new Blob([plot?.shown().csv ?? ''], { type: 'text/csv' }))),
    button('Chart as PNG', () => plot?.canvas()?.toBlob((image) => saveAs('png', image))),
  ])

  function render(): void {
    const split = splits.find(({ label }) => label === state.split) ?? splits[0]
    if (split === undefined) throw new Error(`The chart of ${title} has no lines`)
    const lines = linesOf(sums, { ...view, split, unit: state.unit })
    const { unit, points, few } = lines
    const days = points[0]?.days
    caption.replaceChildren(
      createElement('strong', {}, [`${title} by ${unit}`]),
      ' ',
      createElement('span', {}, [days ? `${periodOf(points)}.` : 'No day is complete.']),
      unit === 'week' ? ` A point is a week${days === 7 ? '' : `; the first has ${days} days`}.` : '',
      few.some(Boolean) ? ` Shaded: each line has fewer than ${FEW_ANSWERS} answers.` : '',
      note ? ` ${note}` : '',
    )
    tools.hidden = days === undefined
    content.replaceChildren()
    if (days === undefined) return
    plot = plotOf(label, lines, state.off)
    content.append(
      plot.element,
      disclosure('Numbers of the chart', () => numbers(label, lines)),
    )
  }
  render()
  const why = explanation ? [disclosure('Why it moved', explanation)] : []
  return createElement('figure', { class: 'chart' }, [caption, tools, content, ...why])
}

/** Renders the numbers of a chart, in percent. */
function numbers(label: string, { unit, points, lines }: Lines): Node {
  const row = (name: string, from?: number, to?: number) => [
    name,
    ...lines.map((line) => percent(rateOf(line, from, to))),
  ]
  const rows = points.map((point, index) => row(periodOf([point]), index, index + 1))
  return createElement('div', scrollable(`Numbers of the chart: ${label}`), [
    table(
      [unit === 'day' ? 'Day' : 'Week', ...lines.map(({ name }) => name)],
      [row('All days shown'), ...rows],
    ),
  ])
}
