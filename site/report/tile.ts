import { createElement } from '../charts/elements.ts'
import { count, percentOf, rateOf } from '../charts/lines.ts'
import { sameness } from '../charts/noise.ts'
import { shareOf } from '../charts/sums.ts'
import type { Change, Figures } from './figures.ts'

/** Renders a figure with its change against the period before. A click leads to its days. */
export function tile({ metric, scope, ...course }: Figures, lead: Change, onClick: () => void): HTMLElement {
  const [text, kind] = courseOf(lead)
  const element = createElement('button', { type: 'button', class: 'tile', title: 'Show the days' }, [
    createElement('span', {}, [metric.title, createElement('small', {}, [scope && ` ${scope}`])]),
    createElement('span', {}, [
      createElement('strong', {}, [percentOf(lead.now)]),
      createElement('small', {}, [` ${count({ whole: [lead.now.whole] })}`]),
    ]),
    createElement('span', { class: kind }, [text]),
    sparkline(course, lead),
  ])
  element.addEventListener('click', onClick)
  return element
}

/** Says whether a figure is better or worse than before. */
function courseOf({ now, before }: Change): [course: string, kind: string] {
  if (before === undefined) return ['no earlier period', '']
  const same = sameness(before, now)
  if (same !== undefined) return [same, '']
  const points = (shareOf(now) - shareOf(before)) * 100
  const [sign, kind] = points > 0 ? ['▲', 'better'] : ['▼', 'worse']
  return [`${sign} ${Math.abs(points).toFixed(1)} points ${kind}`, kind]
}

/** Draws a line over the period, and over the one before in another colour. */
function sparkline({ points, from }: Pick<Figures, 'points' | 'from'>, { line }: Change): SVGElement {
  const rates = points.map((_, point) => rateOf(line, point, point + 1))
  const known = rates.filter((rate) => typeof rate === 'number')
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const places = rates.map((rate, point) => {
    const x = 2 + (point / Math.max(1, points.length - 1)) * 116
    return typeof rate === 'number' ? `${x},${30 - ((rate - low) / (high - low || 1)) * 28} ` : ''
  })
  const start = points.findIndex(({ last }) => last >= from)
  const box = { viewBox: '0 0 120 32', preserveAspectRatio: 'none' }
  return svg('svg', { class: 'sparkline', 'aria-hidden': 'true', ...box }, [
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
