import { max } from 'd3-array'
import { axes } from './axes.ts'
import type { ChartLines } from './chart-lines.ts'
import { createSvgElement } from './elements.ts'
import { OTHER } from './line-classes.ts'

/** How far the pointer can be from a line to highlight it, in pixels. */
const REACH = 24

/** A point of a plot, and a highlighted line, both by index. */
export type Position = { readonly point: number; readonly line: number | undefined }

export type Plot = {
  readonly svg: SVGSVGElement
  /** Returns the point at a pointer, and the line near to it. */
  readonly positionAt: (pointer: { x: number; y: number }) => Position
  /** Marks a point and highlights a line; nothing without a position. */
  readonly mark: (position: Position | undefined) => void
}

type Drawing = Pick<ChartLines, 'points' | 'lines'> & {
  /** Class of each line: its colour. */
  readonly classes: readonly string[]
  /** In pixels. */
  readonly width: number
}

/** Draws lines over points. Points without a value are gaps. */
export function drawPlot({ points, lines, classes, width }: Drawing): Plot {
  const highest = max(lines, ({ values }) => max(values, (value) => value)) ?? 0
  const { x, y, pointAt, top, bottom, height, elements } = axes({ points, highest, width })

  const dot = (line: number, point: number, r: number): SVGElement[] => {
    const value = lines[line]?.values[point]
    if (value === null || value === undefined) return []
    return [createSvgElement('circle', { class: classes[line] ?? '', cx: x(point), cy: y(value), r })]
  }
  const drawn = lines.map(({ values }, line) => {
    const isAlone = (point: number) =>
      (values[point - 1] ?? null) === null && (values[point + 1] ?? null) === null
    return createSvgElement('g', {}, [
      createSvgElement('path', { class: classes[line] ?? '', d: pathOf(values, { x, y }) }),
      ...points.flatMap((_, point) => (isAlone(point) ? dot(line, point, 2.5) : [])),
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
    positionAt: (pointer) => {
      const point = pointAt(pointer.x)
      const distances = lines.map(({ values }) => Math.abs(y(values[point] ?? Number.NaN) - pointer.y))
      const nearest = distances.reduce((best, distance, line) => {
        return distance < (distances[best] ?? REACH) ? line : best
      }, -1)
      return { point, line: nearest < 0 ? undefined : nearest }
    },
    mark: (position) => {
      for (const [line, element] of drawn.entries()) element.classList.toggle('near', line === position?.line)
      if (position === undefined) return marks.replaceChildren()
      const { point, line } = position
      const named = classes.flatMap((name, each) => (name !== OTHER || each === line ? [each] : []))
      marks.replaceChildren(
        createSvgElement('line', { class: 'mark', x1: x(point), x2: x(point), y1: top, y2: bottom }),
        ...named.flatMap((each) => dot(each, point, each === line ? 5 : 3.5)),
      )
    },
  }
}

type Scales = { readonly x: (point: number) => number; readonly y: (value: number) => number }

/** Writes the path of a line, which starts again after each gap. */
function pathOf(values: readonly (number | null)[], { x, y }: Scales): string {
  return values
    .map((value, point) => {
      if (value === null) return ''
      const continues = (values[point - 1] ?? null) !== null
      return `${continues ? 'L' : 'M'}${x(point).toFixed(1)},${y(value).toFixed(1)}`
    })
    .join('')
}
