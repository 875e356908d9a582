import { max } from 'd3-array'
import { axes } from './axes.ts'
import type { DailyLines } from './daily-lines.ts'
import { createSvgElement } from './elements.ts'
import { OTHER } from './line-classes.ts'

/** How far the pointer can be from a line to highlight it, in pixels. */
const REACH = 24

/** A day of a plot, and a highlighted line, both by index. */
export type Position = { readonly day: number; readonly line: number | undefined }

export type Plot = {
  readonly svg: SVGSVGElement
  /** Returns the day at a point, and the line near to it. */
  readonly positionAt: (point: { x: number; y: number }) => Position
  /** Marks a day and highlights a line; nothing without a position. */
  readonly mark: (position: Position | undefined) => void
}

type Drawing = Pick<DailyLines, 'days' | 'lines'> & {
  /** Class of each line: its colour. */
  readonly classes: readonly string[]
  /** In pixels. */
  readonly width: number
}

/** Draws lines over days. Days without a value are gaps. */
export function drawPlot({ days, lines, classes, width }: Drawing): Plot {
  const highest = max(lines, ({ values }) => max(values, (value) => value)) ?? 0
  const { x, y, dayAt, top, bottom, height, elements } = axes({ days, highest, width })

  const dot = (line: number, day: number, r: number): SVGElement[] => {
    const value = lines[line]?.values[day]
    if (value === null || value === undefined) return []
    return [createSvgElement('circle', { class: classes[line] ?? '', cx: x(day), cy: y(value), r })]
  }
  const drawn = lines.map(({ values }, line) => {
    const isAlone = (day: number) => (values[day - 1] ?? null) === null && (values[day + 1] ?? null) === null
    return createSvgElement('g', {}, [
      createSvgElement('path', { class: classes[line] ?? '', d: pathOf(values, { x, y }) }),
      ...days.flatMap((_, day) => (isAlone(day) ? dot(line, day, 2.5) : [])),
    ])
  })
  const marks = createSvgElement('g')
  const svg = createSvgElement('svg', { width, height, 'aria-hidden': 'true' }, [
    ...elements,
    // The first lines are on top.
    ...drawn.toReversed(),
    marks,
  ])

  return {
    svg,
    positionAt: (point) => {
      const day = dayAt(point.x)
      const distances = lines.map(({ values }) => Math.abs(y(values[day] ?? Number.NaN) - point.y))
      const nearest = distances.reduce((best, distance, line) => {
        return distance < (distances[best] ?? REACH) ? line : best
      }, -1)
      return { day, line: nearest < 0 ? undefined : nearest }
    },
    mark: (position) => {
      for (const [line, element] of drawn.entries()) element.classList.toggle('near', line === position?.line)
      if (position === undefined) return marks.replaceChildren()
      const { day, line } = position
      const named = classes.flatMap((name, each) => (name !== OTHER || each === line ? [each] : []))
      marks.replaceChildren(
        createSvgElement('line', { class: 'day', x1: x(day), x2: x(day), y1: top, y2: bottom }),
        ...named.flatMap((each) => dot(each, day, each === line ? 5 : 3.5)),
      )
    },
  }
}

type Scales = { readonly x: (day: number) => number; readonly y: (value: number) => number }

/** Writes the path of a line, which starts again after each gap. */
function pathOf(values: readonly (number | null)[], { x, y }: Scales): string {
  return values
    .map((value, day) => {
      if (value === null) return ''
      const continues = (values[day - 1] ?? null) !== null
      return `${continues ? 'L' : 'M'}${x(day).toFixed(1)},${y(value).toFixed(1)}`
    })
    .join('')
}
