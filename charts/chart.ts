import type { DailyLines } from './daily-lines.ts'
import { createElement } from './elements.ts'
import { legendEntries, legendItems, percent } from './legend.ts'
import { lineClasses } from './line-classes.ts'
import { drawPlot, type Plot, type Position } from './plot.ts'
import { disclosure, scrollable } from './regions.ts'

type Chart = DailyLines & {
  readonly title: string
  /** Names it among the charts of the page. The title by default. */
  readonly label?: string
  /** What a reader should know about the days. */
  readonly note: string
}

/** The next day's index, by the key that was pressed; `day` is undefined while no day is selected. */
const KEYS: Readonly<Record<string, (day: number | undefined, last: number) => number | undefined>> = {
  ArrowRight: (day = -1) => day + 1,
  ArrowUp: (day = -1) => day + 1,
  ArrowLeft: (day, last) => (day ?? last + 1) - 1,
  ArrowDown: (day, last) => (day ?? last + 1) - 1,
  PageUp: (day = -1) => day + 7,
  PageDown: (day, last) => (day ?? last + 1) - 7,
  Home: () => 0,
  End: (_, last) => last,
  Escape: () => undefined,
}

/** Renders a line chart. Its plot is a slider that selects a day, with the pointer or the keyboard. */
export function chart({ title, label = title, note, days, lead, lines }: Chart): Node {
  const [first = '', last = ''] = [days[0], days.at(-1)]
  const caption = createElement('figcaption', {}, [
    createElement('strong', {}, [`${title} by day`]),
    ' ',
    createElement('span', {}, [days.length === 0 ? 'No day is complete.' : `${first} to ${last}.`]),
    ` ${note}`,
  ])
  if (days.length === 0) return createElement('figure', { class: 'chart' }, [caption])

  const classes = lineClasses(lines, lead)
  const heading = createElement('p')
  const legend = createElement('dl')
  const holder = createElement('div', {
    class: 'plot',
    role: 'slider',
    tabindex: '0',
    'aria-label': `${label} by day. Arrow keys select a day.`,
    'aria-valuemin': '0',
    'aria-valuemax': String(days.length - 1),
  })
  let plot: Plot | undefined
  let position: Position | undefined

  function select(next: Position | undefined): void {
    position = next
    const period = (next && days[next.day]) ?? 'All days'
    const entries = legendEntries(lines, classes, next)
    heading.replaceChildren(period)
    legend.replaceChildren(...legendItems(entries))
    holder.ariaValueNow = String(next?.day ?? days.length - 1)
    holder.ariaValueText = `${period}: ${entries.map(({ name, value }) => `${name} ${value}`).join(', ')}`
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
    const day = move(position?.day, days.length - 1)
    select(day === undefined ? day : { day: Math.min(days.length - 1, Math.max(0, day)), line: undefined })
  })
  new ResizeObserver(() => {
    plot = drawPlot({ days, lines, classes, width: holder.clientWidth })
    holder.replaceChildren(plot.svg)
    plot.mark(position)
  }).observe(holder)

  select(undefined)
  const numbers = disclosure('Numbers of the chart', () => table(label, { days, lines }))
  return createElement('figure', { class: 'chart' }, [
    caption,
    createElement('div', { class: 'results' }, [heading, legend]),
    holder,
    numbers,
  ])
}

/** Renders the numbers of a chart, in percent. */
function table(label: string, { days, lines }: Pick<DailyLines, 'days' | 'lines'>): Node {
  const head = ['Day', ...lines.map(({ name }) => name)].map((name) =>
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
          'All days',
          lines.map(({ figure }) => figure),
        ),
        ...days.map((day, index) =>
          row(
            day,
            lines.map(({ values }) => values[index] ?? null),
          ),
        ),
      ]),
    ]),
  ])
}
