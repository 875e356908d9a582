/*! uPlot: Copyright (c) 2025 Leon Sorokin, MIT License */
import uPlot from 'uplot'
import { createElement, find } from './elements.ts'
import { type Line, type Lines, periodOf, rateOf } from './lines.ts'

export type Plot = {
  readonly element: HTMLElement
  /** Returns the days that are visible, and the numbers of the lines that are on as CSV. */
  readonly shown: () => { readonly period: string; readonly csv: string }
  readonly canvas: () => HTMLCanvasElement | undefined
}

const DAY = 86_400
/** Distances of the labels of days, in seconds. */
const STEPS_OF_DAYS = [1, 2, 3, 5, 7, 10, 14, 21, 28, 56, 91, 182, 364, 3640, 36_400].map(
  (days) => days * DAY,
)
const DATE = new Intl.DateTimeFormat('en', { timeZone: 'UTC', month: 'short', day: 'numeric' })
const MONTH = new Intl.DateTimeFormat('en', { timeZone: 'UTC', month: 'short', year: 'numeric' })
/** In pixels. A plot that is at least `wide` has the names of its lines at their ends. `paper` fits a card on A4. */
const SIZE = { height: 260, names: 116, line: 15, wide: 480, paper: 640 }

/** By how many points a key moves the selected one. */
const STEPS: Readonly<Record<string, number>> = {
  ...{ ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 },
  ...{ PageUp: 7, PageDown: -7, Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY },
}

export const percent = (value: number | null): string =>
  value === null ? 'no value' : `${value.toFixed(2)} %`

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
 * Draws lines with a legend, whose entries switch lines off and on, and keeps the names of lines that are off. The plot
 * is a slider that selects a point, with the pointer or the keyboard.
 */
export function plotOf(label: string, { unit, points, lines, few }: Lines, off: Set<string>): Plot {
  const end = points.length - 1
  const times = points.map(({ first }) => Date.parse(first) / 1000)
  const values = lines.map((line) => points.map((_, point) => rateOf(line, point, point + 1)))
  let plot: uPlot | undefined
  let selected: number | undefined
  let visible = [...times.keys()]
  const legend = createElement('div', { class: 'legend' })
  const holder = createElement('div', {
    class: 'plot',
    role: 'slider',
    tabindex: '0',
    'aria-label': `${label} by ${unit}. Arrow keys select a ${unit}.`,
    'aria-valuemin': '0',
    'aria-valuemax': String(end),
  })

  /** The points of the numbers in the legend: the selected one, or all that are visible. */
  const span = (): [from: number, to: number] =>
    selected === undefined ? [visible[0] ?? 0, (visible.at(-1) ?? end) + 1] : [selected, selected + 1]
  const heading = () =>
    selected === undefined && visible.length > end ? 'All days shown' : periodOf(points.slice(...span()))
  const figure = (line: Line | undefined) => (line === undefined ? '' : percent(rateOf(line, ...span())))

  function speak(): void {
    plot?.setLegend({ idxs: Array(lines.length + 1).fill(selected ?? null) }, false)
    const figures = lines.filter(({ name }) => !off.has(name)).map((line) => `${line.name} ${figure(line)}`)
    holder.ariaValueNow = String(selected ?? end)
    holder.ariaValueText = `${heading()}: ${figures.join(', ')}`
  }
  holder.addEventListener('keydown', (event) => {
    const step = STEPS[event.key] ?? Number.NaN
    if (plot === undefined || (Number.isNaN(step) && event.key !== 'Escape')) return
    event.preventDefault()
    const [from, to] = [visible[0] ?? 0, visible.at(-1) ?? end]
    const point = Math.min(to, Math.max(from, (selected ?? (step > 0 ? from - 1 : to + 1)) + step))
    const left = Number.isNaN(point) ? -10 : plot.valToPos(times[point] ?? 0, 'x')
    plot.setCursor({ left, top: -1000 })
  })
  // uPlot follows the mouse only.
  holder.addEventListener('pointermove', ({ pointerType, clientX, clientY }) => {
    const box = plot?.over.getBoundingClientRect()
    if (pointerType !== 'mouse' && box) plot?.setCursor({ left: clientX - box.left, top: clientY - box.top })
  })

  const entryOf = (index: number) => find(HTMLElement, `tr:nth-child(${index + 1}) th`, legend)
  const colorOf = (index: number) => getComputedStyle(find(HTMLElement, '.u-marker', entryOf(index))).color
  const lineColor = () => getComputedStyle(holder).borderColor

  /** Fills the background, which a saved image needs, and shades points with few answers. */
  function shade({ ctx, bbox, valToPos }: uPlot): void {
    ctx.save()
    ctx.fillStyle = getComputedStyle(document.documentElement).backgroundColor
    ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height)
    ctx.fillStyle = lineColor()
    ctx.globalAlpha = 0.5
    const half = (unit === 'day' ? DAY : 7 * DAY) / 2
    for (const [point, time] of times.entries()) {
      const left = Math.max(bbox.left, valToPos(time - half, 'x', true))
      const right = Math.min(bbox.left + bbox.width, valToPos(time + half, 'x', true))
      if (few[point] && right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height)
    }
    ctx.restore()
  }

  /** Writes the names of lines at their ends, each below the previous one. */
  function nameEnds({ ctx, bbox, width, valToPos }: uPlot): void {
    if (width < SIZE.wide || lines.length < 2) return
    const size = SIZE.line * devicePixelRatio
    const ends = lines.flatMap(({ name, color }, index) => {
      const value =
        values[index]?.slice(0, (visible.at(-1) ?? end) + 1).findLast((each) => each !== null) ?? null
      const isNamed = color !== null && !off.has(name) && value !== null
      return isNamed ? [{ name, index, y: valToPos(value, 'y', true) }] : []
    })
    ends.sort((left, right) => left.y - right.y)
    for (const [index, each] of ends.entries()) each.y = Math.max(each.y, (ends[index - 1]?.y ?? 0) + size)
    const excess = (ends.at(-1)?.y ?? 0) - bbox.top - bbox.height
    ctx.save()
    ctx.font = `600 ${12 * devicePixelRatio}px ${getComputedStyle(holder).fontFamily}`
    ctx.textBaseline = 'middle'
    ctx.textAlign = 'left'
    for (const { name, index, y } of ends) {
      ctx.fillStyle = colorOf(index + 1)
      const [x, limit] = [bbox.left + bbox.width + size / 2, (SIZE.names - 12) * devicePixelRatio]
      ctx.fillText(name, x, y - Math.max(0, excess), limit)
    }
    ctx.restore()
  }

  function draw(): void {
    const size = { width: holder.clientWidth, height: SIZE.height }
    plot?.setSize(size)
    if (plot !== undefined) return
    const axis: uPlot.Axis = {
      stroke: () => getComputedStyle(holder).color,
      grid: { stroke: lineColor, width: 1 },
      ticks: { show: false },
      font: `12px ${getComputedStyle(holder).fontFamily}`,
    }
    plot = new uPlot(
      {
        ...size,
        padding: [10, ({ width }) => (width < SIZE.wide || lines.length < 2 ? 16 : SIZE.names), 0, 0],
        tzDate: (time) => uPlot.tzDate(new Date(time * 1000), 'Etc/UTC'),
        focus: { alpha: 0.25 },
        legend: {
          mount: (_, table) => legend.replaceChildren(table),
          markers: { width: 0, fill: 'currentColor' },
        },
        cursor: { y: false, focus: { prox: 24 }, drag: { x: true, y: false } },
        scales: {
          x: { range: (_, min, max) => (min === max ? [min - DAY, max + DAY] : [min, max]) },
          y: { range: (_, __, max) => [0, Math.min(101, uPlot.rangeNum(0, max || 1, 0.05, true)[1] ?? 101)] },
        },
        axes: [
          {
            ...axis,
            size: 32,
            gap: 8,
            incrs: STEPS_OF_DAYS,
            grid: { show: false },
            values: (_, ticks, __, ___, step) =>
              ticks.map((tick) => (step < 364 * DAY ? DATE : MONTH).format(tick * 1000)),
          },
          { ...axis, size: 48, values: (_, ticks) => ticks.map((tick) => `${tick} %`) },
        ],
        series: [
          { label: '', class: 'heading', value: heading },
          ...lines.map((line, index) => ({
            label: line.name,
            class: `line-${line.color ?? 'other'}`,
            show: !off.has(line.name),
            stroke: () => colorOf(index + 1),
            width: line.lead ? 3 : line.color === null ? 1 : 2,
            points: { show: true, size: 5, filter: () => pointsAlone(values[index] ?? []) },
            value: () => (off.has(line.name) ? 'off' : figure(line)),
          })),
        ],
        hooks: {
          drawClear: [shade],
          draw: [nameEnds],
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
            },
          ],
          setScale: [
            ({ scales: { x } }) => {
              const isVisible = (time = 0) => time >= (x?.min ?? 0) && time <= (x?.max ?? 0)
              visible = [...times.keys()].filter((point) => isVisible(times[point]))
              speak()
            },
          ],
        },
      },
      [times, ...values],
      holder,
    )
    plots.add(plot)
    find(HTMLElement, 'table', legend).role = 'presentation'
    for (const [index, line] of lines.entries()) enableEntry(entryOf(index + 1), !off.has(line.name))
    speak()
  }
  new ResizeObserver(draw).observe(holder)
  speak()
  return {
    element: createElement('div', {}, [legend, holder]),
    canvas: () => plot?.ctx.canvas,
    shown: () => {
      const on = lines.filter(({ name }) => !off.has(name))
      const rows = visible.map((point) => [
        points[point]?.first ?? '',
        points[point]?.last ?? '',
        ...on.map((line) => values[lines.indexOf(line)]?.[point]?.toFixed(4) ?? ''),
      ])
      const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
      const csv = [['first_day', 'last_day', ...on.map(({ name }) => name)], ...rows]
      return {
        period: periodOf(visible.flatMap((point) => points[point] ?? [])),
        csv: csv.map((cells) => `${cells.map(quoted).join(',')}\r\n`).join(''),
      }
    },
  }
}

/** Makes an entry of the legend a button. A double click, or a click with Ctrl, leaves only its line. */
function enableEntry(entry: HTMLElement, isOn: boolean): void {
  Object.assign(entry, {
    role: 'button',
    tabIndex: 0,
    ariaPressed: String(isOn),
    title: 'Double-click: only this line',
  })
  entry.addEventListener('dblclick', () => entry.dispatchEvent(new MouseEvent('click', { ctrlKey: true })))
  entry.addEventListener('keydown', (event) => {
    if (event.key !== ' ' && event.key !== 'Enter') return
    event.preventDefault()
    entry.dispatchEvent(new MouseEvent('click', { ctrlKey: event.ctrlKey }))
  })
}

/** Returns the points whose neighbours have no value: a line does not show them. */
const pointsAlone = (values: readonly (number | null)[]): number[] =>
  [...values.keys()].filter((point) =>
    [-1, 0, 1].every((by) => ((values[point + by] ?? null) !== null) === (by === 0)),
  )
