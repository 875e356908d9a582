/*! uPlot: Copyright (c) 2025 Leon Sorokin, MIT License */
import uPlot from 'uplot'
import { DAY_MS } from './days.ts'
import { isPartial, type Line, type Lines, rateOf } from './lines.ts'
import { isFew } from './noise.ts'

/** What the lines of a chart are drawn with. */
export type Style = {
  readonly off: ReadonlySet<string>
  readonly colorOf: (line: Line) => string
  /** Its font and colours are those of the axes. */
  readonly element: Element
}

const DAY = DAY_MS / 1000
/** In pixels. The names of lines have at most a quarter of a narrow plot. */
const SIZE = { text: 12, line: 15, names: 116, leader: 16, label: 60 }
const FAINT = 0.35

/** Returns how uPlot draws lines and axes. Sizes are in pixels of the page, times a scale. */
export function drawingOf({ unit, points, lines }: Lines, { off, colorOf, element }: Style, scale = 1) {
  const times = points.map(({ first }) => Date.parse(first) / 1000)
  const values = lines.map((line) => points.map((_, point) => rateOf(line, point, point + 1)))
  const ratio = () => devicePixelRatio * scale
  const style = getComputedStyle(element)
  const fontOf = (size: number) => `600 ${size}px ${style.fontFamily}`
  const named = lines.length < 2 ? [] : lines.filter(({ color }) => color !== null)

  /** Returns the width that the names of lines need, in pixels of the page. */
  function widthOfNames({ ctx, width }: uPlot): number {
    ctx.save()
    ctx.font = fontOf(SIZE.text)
    const widths = named.map(({ name }) => ctx.measureText(name).width + SIZE.leader + 4)
    ctx.restore()
    return scale * Math.max(24, Math.min(SIZE.names, width / scale / 4, Math.max(0, ...widths)))
  }

  /** Draws a line, dashed next to a week that is not whole, and faint next to a point of few answers. */
  function drawLine(plot: uPlot, series: number): void {
    const { ctx, bbox, valToPos } = plot
    const [line, rates] = [lines[series - 1], values[series - 1]]
    if (line === undefined || rates === undefined) return
    const x = (point: number) => valToPos(times[point] ?? 0, 'x', true)
    const y = (point: number) => valToPos(rates[point] ?? 0, 'y', true)
    ctx.save()
    ctx.beginPath()
    // Half of a thick line is above 100 %.
    ctx.rect(bbox.left, bbox.top - 4 * ratio(), bbox.width, bbox.height + 8 * ratio())
    ctx.clip()
    ctx.strokeStyle = ctx.fillStyle = colorOf(line)
    ctx.lineWidth = (line.lead ? 3 : line.color === null ? 1 : 2) * ratio()
    for (const [point, rate] of rates.entries()) {
      if (rate === null) continue
      const isAlone = (rates[point - 1] ?? null) === null
      const ends = isAlone ? [point] : [point - 1, point]
      const isFaint = ends.some((end) => isFew(line.whole[end]))
      const isDashed = ends.some((end) => isPartial(unit, points[end]))
      ctx.globalAlpha = (plot.series[series]?.alpha ?? 1) * (isFaint ? FAINT : 1)
      ctx.lineCap = isFaint || isDashed ? 'butt' : 'round'
      ctx.setLineDash(isDashed ? [5 * ratio(), 4 * ratio()] : [])
      ctx.beginPath()
      if (!isAlone) {
        ctx.moveTo(x(point - 1), y(point - 1))
        ctx.lineTo(x(point), y(point))
        ctx.stroke()
      } else if ((rates[point + 1] ?? null) === null) {
        ctx.arc(x(point), y(point), 2.5 * ratio(), 0, 7)
        ctx.fill()
      }
    }
    ctx.restore()
  }

  /** Writes the names of lines at their ends, one below the other, and leads from each end to its name. */
  function nameEnds({ ctx, bbox, scales, valToPos }: uPlot): void {
    const ends = named.flatMap((line) => {
      const rates = values[lines.indexOf(line)] ?? []
      const last = times.findLastIndex((time, point) => rates[point] !== null && time <= (scales.x?.max ?? 0))
      const [x, y] = [valToPos(times[last] ?? 0, 'x', true), valToPos(rates[last] ?? 0, 'y', true)]
      return last < 0 || x < bbox.left || off.has(line.name) ? [] : [{ line, x, y }]
    })
    ends.sort((left, right) => left.y - right.y)
    const heights = ends.map(({ y }) => y)
    const limits = { from: bbox.top, to: bbox.top + bbox.height }
    const places = spread(heights, { distance: SIZE.line * ratio(), ...limits })
    const left = bbox.left + bbox.width + SIZE.leader * ratio()
    ctx.save()
    ctx.font = fontOf(SIZE.text * ratio())
    ctx.textBaseline = 'middle'
    ctx.textAlign = 'left'
    ctx.lineWidth = ratio()
    for (const [index, { line, x, y }] of ends.entries()) {
      const place = places[index] ?? y
      ctx.fillStyle = ctx.strokeStyle = colorOf(line)
      ctx.fillText(shorten(ctx, line.name, ctx.canvas.width - left), left, place)
      ctx.beginPath()
      ctx.moveTo(x + 3 * ratio(), y)
      ctx.lineTo(Math.max(x, bbox.left + bbox.width) + 4 * ratio(), y)
      ctx.lineTo(left - 3 * ratio(), place)
      ctx.globalAlpha = 0.5
      ctx.stroke()
      ctx.globalAlpha = 1
    }
    ctx.restore()
  }

  const axis: uPlot.Axis = {
    stroke: () => style.color,
    grid: { stroke: () => style.borderColor, width: scale },
    ticks: { show: false },
    font: `${Math.round(SIZE.text * scale)}px ${style.fontFamily}`,
  }
  /** Returns the times of points whose labels fit. */
  const labelled = ({ bbox }: uPlot, _: number, min: number, max: number) => {
    const least = ((max - min) / bbox.width) * SIZE.label * ratio()
    let last = Number.NEGATIVE_INFINITY
    return times.filter((time) => {
      const fits = time >= min && time <= max && time - last >= least
      if (fits) last = time
      return fits
    })
  }
  const isLong = (times.at(-1) ?? 0) - (times[0] ?? 0) > 730 * DAY
  const { format } = new Intl.DateTimeFormat('en', {
    ...{ timeZone: 'UTC', month: 'short' },
    [isLong ? 'year' : 'day']: 'numeric',
  })
  return {
    data: [times, ...values] satisfies uPlot.AlignedData,
    padding: [10 * scale, widthOfNames, 0, 0] satisfies uPlot.Padding,
    scales: {
      x: { range: (_, min, max) => (min === max ? [min - DAY, max + DAY] : [min, max]) },
      y: { range: (_, __, max) => [0, Math.min(101, uPlot.rangeNum(0, max || 1, 0.05, true)[1] ?? 101)] },
    } satisfies uPlot.Scales,
    axes: [
      {
        ...axis,
        ...{ size: 32 * scale, gap: 8 * scale, grid: { show: false }, splits: labelled },
        values: (_, splits) => splits.map((time) => format(time * 1000)),
      },
      { ...axis, size: 48 * scale, values: (_, splits) => splits.map((rate) => `${rate} %`) },
    ] satisfies uPlot.Axis[],
    series: lines.map((line) => ({
      label: line.name,
      show: !off.has(line.name),
      stroke: () => colorOf(line),
      paths: () => null,
      points: { show: false },
    })) satisfies uPlot.Series[],
    hooks: { drawSeries: [drawLine], draw: [nameEnds] } satisfies uPlot.Hooks.Arrays,
  }
}

/** Cuts a text to the width that it may have. */
function shorten(ctx: CanvasRenderingContext2D, text: string, width: number): string {
  let short = text
  for (let end = text.length - 1; end > 0 && ctx.measureText(short).width > width; end -= 1)
    short = `${text.slice(0, end).trimEnd()}…`
  return short
}

/**
 * Moves ascending places apart, as little as possible: places that are too close are centred together. The result is within
 * two limits, where they leave room.
 */
export function spread(
  places: readonly number[],
  { distance, from, to }: { readonly distance: number; readonly from: number; readonly to: number },
): number[] {
  const pools: { sum: number; count: number }[] = []
  for (const [index, place] of places.entries()) {
    const pool = { sum: place - index * distance, count: 1 }
    let last = pools.at(-1)
    while (last && last.sum / last.count > pool.sum / pool.count) {
      pool.sum += last.sum
      pool.count += last.count
      pools.pop()
      last = pools.at(-1)
    }
    pools.push(pool)
  }
  const most = Math.max(from, to - (places.length - 1) * distance)
  return pools
    .flatMap(({ sum, count }) => Array(count).fill(Math.min(most, Math.max(from, sum / count))))
    .map((place, index) => place + index * distance)
}
