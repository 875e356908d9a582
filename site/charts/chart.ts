import { button, createElement, disclosure, save, scrollable, select, table } from './elements.ts'
import {
  count,
  isPartial,
  type Lines,
  linesOf,
  percent,
  periodOf,
  rateOf,
  type Split,
  type Unit,
  type View,
} from './lines.ts'
import { FEW_ANSWERS, isFew } from './noise.ts'
import { type Plot, type PlotState, plotOf } from './plot.ts'
import type { Sums } from './sums.ts'

/** What a reader chose in a chart, which the chart changes. Pass it to the next chart to keep it. */
export type ChartState = PlotState & {
  split?: string | undefined
  unit?: Unit | undefined
  /** Whether the explanation is open. */
  why?: boolean
}

type Chart = Pick<View, 'from' | 'to' | 'where'> & {
  readonly title: string
  /** Names it among the charts of the page. The title by default. */
  readonly label?: string
  /** What a reader should know about it. */
  readonly note?: string
  /** Whose rates and where they are from, for saved files. */
  readonly brand: string
  readonly source: string
  /** What it can have a line for each of; the first by default. */
  readonly splits: readonly Split[]
  readonly sums: Sums
  /** Renders why its rates moved. */
  readonly explanation?: (() => Node) | undefined
  readonly state: ChartState
  /** Called after the reader changed the state, except for the explanation. */
  readonly onChange?: () => void
}

const UNITS: Readonly<Record<string, Unit | undefined>> = { Automatic: undefined, Days: 'day', Weeks: 'week' }

/** Renders the line chart of a metric: what it shows, the plot, and its numbers. */
export function chart({
  title,
  label = title,
  note,
  brand,
  source,
  splits,
  sums,
  explanation,
  state,
  onChange = () => {},
  ...view
}: Chart) {
  const [caption, content] = [createElement('figcaption'), createElement('div')]
  let plot: Plot | undefined
  const choose = (change: Partial<ChartState>) => {
    Object.assign(state, change)
    render()
    onChange()
  }
  async function saveAs(extension: 'csv' | 'png'): Promise<void> {
    const shown = plot?.shown()
    if (shown === undefined) return
    const { csvOf, imageOf } = await import('./saved-files.ts')
    const period = periodOf(shown.points)
    const words = { title: `${title} by ${shown.unit}, in percent`, facts: `${brand} · ${period}`, source }
    const file = extension === 'csv' ? csvOf(shown) : await imageOf(shown, words)
    save(`${brand} ${title}, ${period}.${extension}`, file)
  }
  const units = Object.keys(UNITS)
  const unit = units.find((name) => UNITS[name] === state.unit)
  const labels = splits.map(({ label }) => label)
  const tools = createElement('div', { class: 'tools' }, [
    ...(labels.length < 2 ? [] : [select('Lines', labels, state.split, (split) => choose({ split }))]),
    select('Points', units, unit, (name) => choose({ unit: UNITS[name] })),
    button('Chart as CSV', () => saveAs('csv')),
    button('Chart as PNG', () => saveAs('png')),
  ])

  function render(): void {
    const split = splits.find(({ label }) => label === state.split) ?? splits[0]
    if (split === undefined) throw new Error(`The chart of ${title} has no lines`)
    const lines = linesOf(sums, { ...view, split, unit: state.unit })
    const { unit, points } = lines
    const days = points[0]?.days
    const hasFew = lines.lines.some(({ whole }) => whole.some(isFew))
    const isCut = points.some((point) => isPartial(unit, point))
    caption.replaceChildren(
      createElement('strong', {}, [`${title} by ${unit}`]),
      ' ',
      createElement('span', {}, [days ? `${periodOf(points)}.` : 'No day is complete.']),
      unit === 'week' ? ` A point is an ISO week${isCut ? '; dashed: a week with fewer days' : ''}.` : '',
      hasFew ? ` Faint: fewer than ${FEW_ANSWERS} answers.` : '',
      note ? ` ${note}` : '',
    )
    tools.hidden = days === undefined
    content.replaceChildren()
    if (days === undefined) return
    plot = plotOf(label, lines, state, onChange)
    content.append(
      plot.element,
      disclosure('Table', () => numbers(label, lines)),
    )
  }
  render()
  const figure = createElement('figure', { class: 'chart' }, [caption, tools, content])
  if (explanation) {
    const why = disclosure('Why it moved', explanation)
    why.open = state.why === true
    why.addEventListener('toggle', () => {
      state.why = why.open
    })
    figure.append(why)
  }
  return figure
}

/** Renders the numbers of a chart: rates in percent, and how many answers each has. */
function numbers(label: string, { unit, points, lines }: Lines): Node {
  const row = (name: string, from?: number, to?: number) => [
    name,
    ...lines.map((line) => {
      const rate = rateOf(line, from, to)
      const answers = rate === null ? [] : [' ', createElement('small', {}, [count(line, from, to)])]
      return createElement('span', {}, [percent(rate), ...answers])
    }),
  ]
  const rows = points.map((point, index) => row(periodOf([point]), index, index + 1))
  return createElement('div', scrollable(`Table: ${label}`), [
    table([unit === 'day' ? 'Day' : 'Week', ...lines.map(({ name }) => name)], [row('All days'), ...rows]),
  ])
}
