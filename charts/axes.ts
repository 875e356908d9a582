import { nice, ticks } from 'd3-array'
import { utcTicks } from 'd3-time'
import type { Point } from './chart-lines.ts'
import { createSvgElement } from './elements.ts'

const HEIGHT = 240
const MARGIN = { top: 10, right: 30, bottom: 26, left: 48 }
/** Width of the label of a date, with the space around it: as a rule, and at least. */
const LABEL = { usual: 84, least: 60 }

/** Where points and percentages are in a plot, in pixels. */
export type Axes = {
  readonly height: number
  readonly top: number
  readonly bottom: number
  readonly x: (point: number) => number
  readonly y: (value: number) => number
  /** Returns the index of the point at a position. */
  readonly pointAt: (x: number) => number
  /** The grid and the labels. */
  readonly elements: readonly SVGElement[]
}

type Extent = { readonly points: readonly Point[]; readonly highest: number; readonly width: number }

/** Lays out the axes of a plot: its points, and percentages from 0. */
export function axes({ points, highest, width }: Extent): Axes {
  const [top, bottom, right] = [MARGIN.top, HEIGHT - MARGIN.bottom, width - MARGIN.right]
  const last = points.length - 1
  // A single point is in the middle.
  const [start, step] =
    last === 0 ? [(MARGIN.left + right) / 2, 1] : [MARGIN.left, (right - MARGIN.left) / last]
  const [, limit] = nice(0, highest || 1, 4)
  const x = (point: number) => start + point * step
  const y = (value: number) => bottom - (value / limit) * (bottom - top)
  const pointAt = (position: number) => Math.min(last, Math.max(0, Math.round((position - start) / step)))

  const rows = ticks(0, limit, 4).flatMap((value) => [
    createSvgElement('line', { class: 'grid', x1: MARGIN.left, x2: right, y1: y(value), y2: y(value) }),
    createSvgElement('text', { x: MARGIN.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, [`${value} %`]),
  ])
  const columns = labels(points, right - MARGIN.left).map(({ point, label }) =>
    createSvgElement('text', { x: x(point), y: HEIGHT - 6, 'text-anchor': 'middle' }, [label]),
  )
  return { height: HEIGHT, top, bottom, x, y, pointAt, elements: [...rows, ...columns] }
}

/** Chooses the dates to label, as many as fit a width, and returns the points that contain them. */
function labels(points: readonly Point[], width: number): { point: number; label: string }[] {
  const [first = '', last = ''] = [points[0]?.first, points.at(-1)?.last]
  const dates = utcTicks(new Date(first), new Date(last), width / LABEL.usual)
  const midnights = dates.filter((date) => date.getUTCHours() === 0)
  const step = Math.ceil(midnights.length / (width / LABEL.least))
  const chosen = midnights.filter((_, index) => index % step === 0)
  const areMonths = chosen.length > 1 && chosen.every((date) => date.getUTCDate() === 1)
  const format = new Intl.DateTimeFormat('en', {
    timeZone: 'UTC',
    month: 'short',
    ...(areMonths ? { year: 'numeric' } : { day: 'numeric' }),
  })
  return chosen.map((date) => ({
    point: points.findIndex(({ last }) => date <= new Date(last)),
    label: format.format(date),
  }))
}
