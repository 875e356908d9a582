import uPlot from 'uplot'
import { drawingOf, type Style } from './drawing.ts'
import { createElement, find } from './elements.ts'
import { count, type Days, type Line, type Lines, percent, periodOf, rateOf } from './lines.ts'

/** What a reader chose in a plot. */
export type PlotState = { readonly off: Set<string>; zoom?: Days | undefined }

/** What a plot shows: the points that are visible, and the lines that are on. */
export type Shown = Lines &
  Pick<Style, 'colorOf'> & {
    /** Draws them in twice the pixels of a page. */
    readonly canvas: () => Promise<HTMLCanvasElement>
  }

export type Plot = { readonly element: HTMLElement; readonly shown: () => Shown }

/** In pixels. `paper` fits a card on A4. An image is as wide on each screen. */
const SIZE = { height: 260, paper: 640, image: 760, gap: 12 }

/** A readout of more lines covers the plot. */
const MOST_LINES = 10

/** By how many points a key moves the selected one. */
const STEPS: Readonly<Record<string, number>> = {
  ...{ ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 },
  ...{ PageUp: 7, PageDown: -7, Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY },
}

/** The plots of the page, which are drawn again when the colours change, and for print. */
const plots = new Set<uPlot>()
function drawAll(width?: number): void {
  document.documentElement.style.colorScheme = width === undefined ? '' : 'light'
  for (const plot of plots) {
    const holder = plot.root.parentElement
    if (holder?.isConnected) plot.setSize({ width: width ?? holder.clientWidth, height: SIZE.height })
    else plots.delete(plot)
  }
}
for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
  matchMedia(query).addEventListener('change', () => drawAll())
addEventListener('beforeprint', () => drawAll(SIZE.paper))
addEventListener('afterprint', () => drawAll())

/**
 * Draws lines with a legend, whose entries switch lines off and on, and keeps what the reader chose. The plot is a slider
 * that selects a point, with the pointer or the keyboard, and shows its numbers beside it.
 */
export function plotOf(label: string, all: Lines, state: PlotState, onChange: () => void): Plot {
  const { unit, points, lines } = all
  const { off } = state
  const end = points.length - 1
  let plot: uPlot | undefined
  let selected: number | undefined
  let visible = [...points.keys()]
  const legend = createElement('div', { class: 'legend' })
  // The slider speaks its value.
  const readout = createElement('div', { class: 'readout', hidden: '' })
  const holder = createElement('div', {
    class: 'plot',
    role: 'slider',
    tabindex: '0',
    'aria-label': `${label} by ${unit}. Arrow keys select a ${unit}.`,
    'aria-valuemin': '0',
    'aria-valuemax': String(end),
  })

  const entryOf = (index: number) => find(HTMLElement, `tr:nth-child(${index + 1}) th`, legend)
  const colorOf = ({ color }: Line) =>
    getComputedStyle(find(HTMLElement, `.line-${color ?? 'other'} .u-marker`, legend)).color
  const style = { off, colorOf, element: holder }

  const isOn = ({ name }: Line) => !off.has(name)
  const span = (): [from: number, to: number] => [visible[0] ?? 0, (visible.at(-1) ?? end) + 1]
  const period = (from: number, to: number) =>
    to - from > end ? 'All days' : periodOf(points.slice(from, to))

  /** Tells the numbers of the selected point, or of all that are visible. */
  function speak(): void {
    plot?.setLegend({ idxs: Array(lines.length + 1).fill(null) }, false)
    const [from, to] = selected === undefined ? span() : [selected, selected + 1]
    const [heading, on] = [period(from, to), lines.filter(isOn)]
    const figures = on.map((line) => `${line.name} ${percent(rateOf(line, from, to))}`)
    holder.ariaValueNow = String(selected ?? end)
    holder.ariaValueText = `${heading}: ${figures.join(', ')}`
    readout.hidden = selected === undefined
    if (plot === undefined || selected === undefined) return
    const rows = on
      .slice(0, MOST_LINES)
      .flatMap((line) => [
        createElement('span', { class: `line-${line.color ?? 'other'}` }, [line.name]),
        createElement('b', {}, [percent(rateOf(line, from, to))]),
        createElement('small', {}, [line.whole[from] ? count(line, from, to) : '']),
      ])
    readout.replaceChildren(createElement('strong', {}, [heading]), ...rows)
    const x = plot.valToPos(plot.data[0][selected] ?? 0, 'x')
    const { offsetLeft } = plot.over
    const fits = offsetLeft + x + SIZE.gap + readout.offsetWidth <= holder.clientWidth
    const left = fits ? x + SIZE.gap : x - SIZE.gap - readout.offsetWidth
    readout.style.left = `${Math.max(-offsetLeft, left)}px`
  }
  const showAll = () => plot?.setScale('x', { min: plot.data[0][0] ?? 0, max: plot.data[0][end] ?? 0 })
  holder.addEventListener('keydown', (event) => {
    const step = STEPS[event.key] ?? Number.NaN
    if (plot === undefined || (Number.isNaN(step) && event.key !== 'Escape')) return
    event.preventDefault()
    const [times] = plot.data
    if (event.key === 'Escape' && selected === undefined) showAll()
    const [from, to] = span()
    const point = Math.min(to - 1, Math.max(from, (selected ?? (step > 0 ? from - 1 : to)) + step))
    const left = Number.isNaN(point) ? -10 : plot.valToPos(times[point] ?? 0, 'x')
    plot.setCursor({ left, top: -1000 })
  })
  // uPlot follows the mouse only.
  holder.addEventListener('pointermove', ({ pointerType, clientX, clientY }) => {
    const box = plot?.over.getBoundingClientRect()
    if (pointerType !== 'mouse' && box) plot?.setCursor({ left: clientX - box.left, top: clientY - box.top })
  })

  function draw(): void {
    const size = { width: holder.clientWidth, height: SIZE.height }
    plot?.setSize(size)
    if (plot !== undefined) return
    // The font is that of the page, which the plot is now part of.
    const { data, series, hooks, ...drawing } = drawingOf(all, style)
    const drawn = new uPlot(
      {
        ...size,
        ...drawing,
        focus: { alpha: 0.25 },
        legend: {
          mount: (_, table) => legend.replaceChildren(table),
          markers: { width: 0, fill: 'currentColor' },
        },
        cursor: { y: false, focus: { prox: 24 }, drag: { x: true, y: false } },
        series: [
          { label: '', class: 'heading', value: () => period(...span()) },
          ...lines.map((line, index) => ({
            ...series[index],
            class: `line-${line.color ?? 'other'}`,
            value: () =>
              isOn(line) ? `${percent(rateOf(line, ...span()))}\n${count(line, ...span())}` : 'off',
          })),
        ],
        hooks: {
          ...hooks,
          setCursor: [
            ({ cursor }) => {
              selected = cursor.idx ?? undefined
              speak()
            },
          ],
          setSeries: [
            (_, index, { show }) => {
              const name = lines[(index ?? 0) - 1]?.name
              if (show === undefined || name === undefined) return
              show ? off.delete(name) : off.add(name)
              entryOf(index ?? 0).ariaPressed = String(show)
              speak()
              onChange()
            },
          ],
          setScale: [
            ({ scales: { x }, status }, key) => {
              if (key !== 'x') return
              const [min, max] = [x?.min ?? 0, x?.max ?? 0]
              visible = [...points.keys()].filter((point) => {
                const time = data[0][point] ?? 0
                return time >= min && time <= max
              })
              // Between two points, there is nothing to zoom to.
              if (visible.length === 0) return queueMicrotask(showAll)
              speak()
              if (status === 0) return
              const shown = points.slice(...span())
              const [from = '', to = ''] = [shown[0]?.first, shown.at(-1)?.last]
              state.zoom = visible.length > end ? undefined : { from, to }
              onChange()
            },
          ],
          setSize: [speak],
        },
      },
      data,
      holder,
    )
    plot = drawn
    plots.add(drawn)
    drawn.over.append(readout)
    const { from = '', to = '' } = state.zoom ?? {}
    const min = Date.parse(points.find(({ first }) => first >= from)?.first ?? '') / 1000
    const max = Date.parse(points.findLast(({ first }) => first <= to)?.first ?? '') / 1000
    // Around a single point, half a day.
    const margin = min < max ? 0 : 43_200
    if (min <= max) drawn.setScale('x', { min: min - margin, max: max + margin })
    find(HTMLElement, 'table', legend).role = 'presentation'
    for (const [index, line] of lines.entries()) enableEntry(entryOf(index + 1), isOn(line))
    speak()
  }

  new ResizeObserver(draw).observe(holder)
  speak()
  return {
    element: createElement('div', {}, [legend, holder]),
    shown: () => {
      const cut = <Each>(values: readonly Each[]) => values.slice(...span())
      const on = lines.filter(isOn).map((line) => ({ ...line, part: cut(line.part), whole: cut(line.whole) }))
      const shown = { unit, points: cut(points), lines: on }
      return { ...shown, colorOf, canvas: () => canvasOf(shown, style) }
    },
  }
}

async function canvasOf(shown: Lines, style: Style): Promise<HTMLCanvasElement> {
  const scale = 2 / devicePixelRatio
  const { data, series, ...drawing } = drawingOf(shown, style, scale)
  const size = { width: SIZE.image * scale, height: SIZE.height * scale }
  const hidden = { legend: { show: false }, cursor: { show: false } }
  const plot = new uPlot({ ...size, ...drawing, ...hidden, series: [{}, ...series] }, data)
  // It draws in a microtask.
  await Promise.resolve()
  plot.destroy()
  return plot.ctx.canvas
}

/** Makes an entry of the legend a button. A double click, or a click with Ctrl, leaves only its line. */
function enableEntry(entry: HTMLElement, isOn: boolean): void {
  const title = 'Double-click: only this line'
  Object.assign(entry, { role: 'button', tabIndex: 0, ariaPressed: String(isOn), title })
  entry.addEventListener('dblclick', () => entry.dispatchEvent(new MouseEvent('click', { ctrlKey: true })))
  entry.addEventListener('keydown', (event) => {
    if (event.key !== ' ' && event.key !== 'Enter') return
    event.preventDefault()
    entry.dispatchEvent(new MouseEvent('click', { ctrlKey: event.ctrlKey }))
  })
}
