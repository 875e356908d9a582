import { createElement } from '../charts/elements.ts'
import { rateOf } from '../charts/lines.ts'
import type { Figures } from './figures.ts'
import { type Change, knownRate } from './sentences.ts'

/** Renders a figure with its change against the period before. A click leads to its days. */
export function tile({ metric, trend, scope }: Figures, change: Change, onClick: () => void): HTMLElement {
  const { rate } = change.now
  const [course, kind] = courseOf(change)
  const element = createElement('button', { type: 'button', class: 'tile', title: 'Show the days' }, [
    createElement('span', {}, [metric.title, createElement('small', {}, [scope && ` ${scope}`])]),
    createElement('strong', {}, [rate === null ? 'no value' : `${rate.toFixed(1)} %`]),
    createElement('span', { class: kind }, [course]),
    sparkline(trend),
  ])
  element.addEventListener('click', onClick)
  return element
}

/** Says whether a figure is better or worse than before. */
function courseOf({ now, before }: Change): [course: string, kind: string] {
  const [rate, earlier] = [knownRate(now), knownRate(before)]
  if (before === undefined) return ['no earlier period', '']
  if (rate === undefined || earlier === undefined) return ['too few answers to compare', '']
  const points = Number((rate - earlier).toFixed(1))
  if (points === 0) return ['no change', '']
  const [sign, kind] = points > 0 ? ['▲', 'better'] : ['▼', 'worse']
  return [`${sign} ${Math.abs(points).toFixed(1)} points ${kind}`, kind]
}

/** Draws a line over the period, and over the one before in another colour. */
function sparkline({ points, lines: [line], from }: Figures['trend']): SVGElement {
  const rates = points.map((_, point) => line && rateOf(line, point, point + 1))
  const known = rates.filter((rate) => typeof rate === 'number')
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const places = rates.map((rate, point) => {
    const x = 2 + (point / Math.max(1, points.length - 1)) * 116
    return typeof rate === 'number' ? `${x},${30 - ((rate - low) / (high - low || 1)) * 28} ` : ''
  })
  const start = points.findIndex(({ last }) => last >= from)
  const box = {
    class: 'sparkline',
    viewBox: '0 0 120 32',
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  }
  return svg('svg', box, [
    svg('polyline', { class: 'line-other', points: places.slice(0, start + 1).join('') }),
    svg('polyline', { class: 'line-0', points: places.slice(start).join('') }),
  ])
}

function svg(name: 'svg' | 'polyline', attributes: Record<string, string>, children: SVGElement[] = []) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value)
  element.append(...children)
  return element
}
