import type { ChartLines, Point } from './chart-lines.ts'
import { createElement } from './elements.ts'
import { legend, percent } from './legend.ts'
import { lineClasses } from './line-classes.ts'
import { drawPlot, type Plot, type Position } from './plot.ts'
import { disclosure, scrollable } from './regions.ts'

type Chart = ChartLines & {
  readonly title: string
  /** Names it among the charts of the page. The title by default. */
  readonly label?: string
  /** What a reader should know about the days. */
  readonly note: string
  /** Names the days of the chart. */
  readonly period?: string
  /** Names of the lines that are switched off. The legend changes it, so that the next chart can keep them. */
  readonly off?: Set<string> | undefined
}

/** The next point's index, by the key that was pressed; `point` is undefined while none is selected. */
const KEYS: Readonly<Record<string, (point: number | undefined, last: number) => number | undefined>> = {
  ArrowRight: (point = -1) => point + 1,
  ArrowUp: (point = -1) => point + 1,
  ArrowLeft: (point, last) => (point ?? last + 1) - 1,
  ArrowDown: (point, last) => (point ?? last + 1) - 1,
  PageUp: (point = -1) => point + 7,
  PageDown: (point, last) => (point ?? last + 1) - 7,
  Home: () => 0,
  End: (_, last) => last,
  Escape: () => undefined,
}

/** Renders a line chart. Its plot is a slider that selects a point, with the pointer or the keyboard. */
export function chart(options: Chart): Node {
  const { title, label = title, note, period = 'All days', off = new Set(), ...chartLines } = options
  const { unit, points, lead, lines } = chartLines
  const [first, last] = [points[0], points.at(-1)]
  const caption = createElement('figcaption', {}, [
    createElement('strong', {}, [`${title} by ${unit}`]),
    ' ',
    createElement('span', {}, [first && last ? `${first.first} to ${last.last}.` : 'No day is complete.']),
    unit === 'week' && first !== undefined ? aboutWeeks(first) : '',
    ` ${note}`,
  ])
  if (last === undefined) return createElement('figure', { class: 'chart' }, [caption])

  const classes = lineClasses(lines, lead)
  const heading = createElement('p')
  const holder = createElement('div', {
    class: 'plot',
    role: 'slider',
    tabindex: '0',
    'aria-label': `${label} by ${unit}. Arrow keys select a ${unit}.`,
    'aria-valuemin': '0',
    'aria-valuemax': String(points.length - 1),
  })
  let plot: Plot | undefined
  let position: Position | undefined
  const entries = legend({
    lines,
    classes,
    off,
    onSwitch: () => {
      draw()
      select(position)
    },
  })

  function select(next: Position | undefined): void {
    position = next
    const point = points[next?.point ?? -1]
    const shown = point === undefined ? period : daysOf(point)
    heading.replaceChildren(shown)
    holder.ariaValueNow = String(next?.point ?? points.length - 1)
    holder.ariaValueText = `${shown}: ${entries.show(next)}`
    plot?.mark(next)
  }

  const selectAt = ({ clientX, clientY }: PointerEvent) => {
    const { left, top } = holder.getBoundingClientRect()
    select(plot?.positionAt({ x: clientX - left, y: clientY - top }))
  }
  holder.addEventListener('pointermove', selectAt)
  holder.addEventListener('pointerdown', selectAt)
  holder.addEventListener('pointerleave', ({ pointerType }) => {
    if (pointerType === 'mouse') select(undefined)
  })
  holder.addEventListener('keydown', (event) => {
    const move = KEYS[event.key]
    if (move === undefined) return
    event.preventDefault()
    const point = move(position?.point, points.length - 1)
    select(
      point === undefined
        ? point
        : { point: Math.min(points.length - 1, Math.max(0, point)), line: undefined },
    )
  })
  function draw(): void {
    const drawn = lines.map((line) => (off.has(line.name) ? { ...line, values: [] } : line))
    plot = drawPlot({ points, lines: drawn, classes, width: holder.clientWidth })
    holder.replaceChildren(plot.svg)
    plot.mark(position)
  }
  new ResizeObserver(draw).observe(holder)

  select(undefined)
  const numbers = disclosure('Numbers of the chart', () => table(label, period, chartLines))
  return createElement('figure', { class: 'chart' }, [
    caption,
    createElement('div', { class: 'results' }, [heading, entries.element]),
    holder,
    numbers,
  ])
}

/** Says that points are weeks. */
const aboutWeeks = ({ days }: Point): string =>
  ` A point is a week${days === 7 ? '' : `; the first has ${days} days`}.`

const daysOf = ({ first, last }: Point): string => (first === last ? first : `${first} to ${last}`)

/** Renders the numbers of a chart, in percent. */
function table(label: string, period: string, { unit, points, lines }: ChartLines): Node {
  const head = [unit === 'day' ? 'Day' : 'Week', ...lines.map(({ name }) => name)].map((name) =>
    createElement('th', { scope: 'col' }, [name]),
  )
  const row = (name: string, values: readonly (number | null)[]) =>
    createElement('tr', {}, [
      createElement('th', { scope: 'row' }, [name]),
      ...values.map((value) => createElement('td', { class: 'number' }, [percent(value)])),
    ])
  return createElement('div', scrollable(`Numbers of the chart: ${label}`), [
    createElement('table', {}, [
      createElement('thead', {}, [createElement('tr', {}, head)]),
      createElement('tbody', {}, [
        row(
          period,
          lines.map(({ figure }) => figure),
        ),
        ...points.map((point, index) =>
          row(
            daysOf(point),
            lines.map(({ values }) => values[index] ?? null),
          ),
        ),
      ]),
    ]),
  ])
}
