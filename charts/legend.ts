import { extent } from 'd3-array'
import type { Line } from './chart-lines.ts'
import { createElement } from './elements.ts'
import { OTHER } from './line-classes.ts'
import type { Position } from './plot.ts'

export const percent = (value: number | null): string =>
  value === null ? 'no value' : `${value.toFixed(2)} %`

type Entry = { readonly name: string; readonly class: string; readonly value: string }

/** Returns the entries of the legend: their values over all days or, with a position, at its point. */
export function legendEntries(
  lines: readonly Line[],
  classes: readonly string[],
  position: Position | undefined,
): Entry[] {
  const figureOf = ({ figure, values }: Line) =>
    position === undefined ? figure : (values[position.point] ?? null)
  const entryOf = (line: Line): Entry => ({
    name: line.name,
    class: classes[lines.indexOf(line)] ?? '',
    value: percent(figureOf(line)),
  })
  const named = lines.filter((_, index) => classes[index] !== OTHER)
  const others = lines.slice(named.length)
  const near = lines[position?.line ?? -1]
  const single = near !== undefined && others.includes(near) ? [near] : others
  if (single.length < 2) return [...named, ...single].map(entryOf)
  return [
    ...named.map(entryOf),
    { name: `Others (${others.length})`, class: OTHER, value: range(others.map(figureOf)) },
  ]
}

/** Writes the lowest and the highest of values. */
function range(values: readonly (number | null)[]): string {
  const [lowest, highest] = extent(values, (value) => value)
  if (lowest === undefined || highest === undefined) return percent(null)
  return lowest === highest ? percent(lowest) : `${lowest.toFixed(1)}–${highest.toFixed(1)} %`
}

/** Renders the entries of a legend. */
export const legendItems = (entries: readonly Entry[]): Node[] =>
  entries.map(({ name, class: color, value }) =>
    createElement('div', {}, [
      createElement('dt', { title: name }, [createElement('span', { class: `swatch ${color}` }), name]),
      createElement('dd', {}, [value]),
    ]),
  )
