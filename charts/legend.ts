import { extent } from 'd3-array'
import type { Line } from './chart-lines.ts'
import { createElement } from './elements.ts'
import { OTHER } from './line-classes.ts'
import type { Position } from './plot.ts'

export const percent = (value: number | null): string =>
  value === null ? 'no value' : `${value.toFixed(2)} %`

type Legend = {
  readonly element: HTMLElement
  /** Shows the values at a position, or those of all days. Returns them as text, without lines that are switched off. */
  readonly show: (position: Position | undefined) => string
}

type LegendOf = {
  readonly lines: readonly Line[]
  readonly classes: readonly string[]
  /** Names of the lines that are switched off, which the entries change. */
  readonly off: Set<string>
  /** Called after an entry has changed `off`. */
  readonly onSwitch: () => void
}

/** Renders a legend: an entry for each named line and one for all others, which switches its lines off and on. */
export function legend({ lines, classes, off, onSwitch }: LegendOf): Legend {
  const indexes = [...lines.keys()]
  const others = indexes.filter((line) => classes[line] === OTHER)
  const named = indexes.filter((line) => classes[line] !== OTHER).map((line) => [line])
  const groups = others.length === 0 ? named : [...named, others]
  const namesOf = (group: readonly number[]) => group.map((line) => lines[line]?.name ?? '')
  const isOff = (group: readonly number[]) => namesOf(group).every((name) => off.has(name))

  const entries = groups.map((group) => {
    const name = createElement('span')
    const swatch = createElement('span', { class: `swatch ${classes[group[0] ?? 0]}` })
    const button = createElement('button', { type: 'button', 'aria-pressed': String(!isOff(group)) }, [
      swatch,
      name,
    ])
    // The only entry has nothing to switch to, unless an earlier legend switched it off.
    const term = createElement('dt', {}, groups.length === 1 && !isOff(group) ? [swatch, name] : [button])
    const value = createElement('dd')
    button.addEventListener('click', () => {
      const wasOff = isOff(group)
      for (const each of namesOf(group)) wasOff ? off.delete(each) : off.add(each)
      button.setAttribute('aria-pressed', String(wasOff))
      onSwitch()
    })
    return { group, name, term, value, element: createElement('div', {}, [term, value]) }
  })

  return {
    element: createElement(
      'dl',
      {},
      entries.map(({ element }) => element),
    ),
    show: (position) => {
      const near = position?.line
      const texts = entries.map(({ group, name, term, value }) => {
        // A highlighted line stands for the others.
        const shown = near !== undefined && group.includes(near) ? [near] : group
        const text = {
          name: nameOf(shown, lines),
          value: range(shown.map((line) => figureOf(lines[line], position))),
        }
        name.textContent = text.name
        term.title = text.name
        value.textContent = text.value
        return isOff(group) ? [] : [`${text.name} ${text.value}`]
      })
      return texts.flat().join(', ')
    },
  }
}

function nameOf(group: readonly number[], lines: readonly Line[]): string {
  const [only = 0] = group
  return group.length === 1 ? (lines[only]?.name ?? '') : `Others (${group.length})`
}

/** Returns the value of a line at a position, or over all days. */
const figureOf = (line: Line | undefined, position: Position | undefined): number | null =>
  (position === undefined ? line?.figure : line?.values[position.point]) ?? null

/** Writes the lowest and the highest of values. */
function range(values: readonly (number | null)[]): string {
  const [lowest, highest] = extent(values, (value) => value)
  if (lowest === undefined || highest === undefined || lowest === highest) return percent(lowest ?? null)
  return `${lowest.toFixed(1)}–${highest.toFixed(1)} %`
}
