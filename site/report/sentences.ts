import { type Line, type Point, rateOf } from '../charts/lines.ts'
import { isFew, isKnown, isNoise, zOf } from '../charts/noise.ts'
import { type Sides, shareOf, total } from '../charts/sums.ts'
import type { Change, Figures } from './figures.ts'

/** A clause, and how much it says: the most telling have the largest weight. */
type Fact = { readonly text: string; readonly weight: number }

/** More than any z-value: who leads says more than how far a rate moved. */
const OVERTAKEN = 1_000

const MOST_FACTS = 3

/**
 * Says in a sentence what a period has: the course of visibility, then the facts that are furthest from the noise, and
 * the weakest model and market.
 */
export function summarize(figures: readonly Figures[]): string {
  const visibility = figures.find(({ metric }) => metric.name === 'visibility')
  const { now, before } = visibility?.lead ?? {}
  if (now === undefined || visibility === undefined) return 'No answers in this period.'
  if (isFew(now.whole)) return `Too few answers to tell: ${now.whole} in this period.`
  const facts = figures.flatMap((each) => [
    // Visibility comes first anyway, and the brand among its competitors has the same.
    ...(each.lead && !['visibility', 'competitors'].includes(each.metric.name)
      ? courseOf(each.metric.title, each.lead)
      : []),
    ...(each === visibility ? [] : each.others.flatMap(({ changes }) => rivalsOf(each, changes))),
  ])
  const told = facts.sort((left, right) => right.weight - left.weight).slice(0, MOST_FACTS - 1)
  const clauses = [
    describeCourse('Visibility', now, before),
    ...told.map(({ text }) => text),
    ...(before && !isKnown(before) ? ['the period before has too few answers to compare'] : []),
  ]
  const weakest = visibility.others.flatMap(({ label, changes }) => weakestOf(label, changes))
  return [`${clauses.join('; ')}.`, ...weakest].join(' ')
}

function describeCourse(title: string, now: Sides, before: Sides | undefined): string {
  if (!isKnown(before)) return `${title} is ${round(shareOf(now))} %`
  if (isNoise(before, now)) return `${title} is unchanged at ${round(shareOf(now))} %`
  const [from, to] = distinct(shareOf(before), shareOf(now))
  return `${title} ${shareOf(now) > shareOf(before) ? 'rose' : 'fell'} from ${from} to ${to} %`
}

/** Returns the change of a rate beyond the noise. */
function courseOf(name: string, { now, before }: Change, scope = ''): Fact[] {
  if (!isKnown(now) || !isKnown(before) || isNoise(before, now)) return []
  return [{ text: describeCourse(name, now, before) + scope, weight: Math.abs(zOf(before, now)) }]
}

/** Returns which competitors moved, who overtook whom, and how far away the strongest one is. */
function rivalsOf({ metric, lead, points }: Figures, changes: readonly Change[]): Fact[] {
  if (lead === undefined || !isKnown(lead.now)) return []
  const rivals = changes.filter(({ now }) => isKnown(now))
  const most = Math.max(...rivals.map(({ now }) => shareOf(now)))
  const scope = metric.name === 'competitors' ? '' : ` in ${metric.title}`
  return rivals.flatMap((rival) => [
    ...courseOf(rival.name, rival, scope),
    ...standingOf({ lead, rival, scope, points, isStrongest: shareOf(rival.now) === most }),
  ])
}

type Pair = {
  readonly lead: Change
  readonly rival: Change
  readonly scope: string
  readonly points: Figures['points']
  readonly isStrongest: boolean
}

/** Returns who of two leads by how much, where that is new, or the other is the strongest. */
function standingOf({ lead, rival, scope, points, isStrongest }: Pair): Fact[] {
  const [side, earlier] = [sideOf(rival.now, lead.now), sideOf(rival.before, lead.before)]
  const distance = round(Math.abs(shareOf(lead.now) - shareOf(rival.now)))
  const by = `${distance} ${distance === '1' ? 'point' : 'points'}`
  const [winner, loser] = side > 0 ? [lead, rival] : [rival, lead]
  if (side * earlier < 0) {
    const since = crossing(points, winner.line, loser.line)
    const when = since ? ` ${since.days > 1 ? 'in the week from' : 'on'} ${since.first}` : ''
    const text = `${winner.name} overtook ${loser.name}${scope}${when} and leads by ${by}`
    return [{ text, weight: OVERTAKEN }]
  }
  const standing = side === 0 ? 'level with' : `${by} ${side > 0 ? 'ahead of' : 'behind'}`
  return isStrongest ? [{ text: `${lead.name} is ${standing} ${rival.name}${scope}`, weight: 1 }] : []
}

/** Returns which of two rates is higher beyond the noise: 1 for the second, -1 for the first, 0 for neither. */
const sideOf = (first: Sides | undefined, second: Sides | undefined): number =>
  !isKnown(first) || !isKnown(second) || isNoise(first, second) ? 0 : Math.sign(zOf(first, second))

/** Returns the point from which on a line is above another: before it, their differences add up to the least. */
function crossing(points: Figures['points'], line: Line, other: Line): Point | undefined {
  const differences = points.flatMap((point, index) => {
    const [rate, rival] = [rateOf(line, index, index + 1), rateOf(other, index, index + 1)]
    return rate === null || rival === null ? [] : [{ point, difference: rate - rival }]
  })
  let [total, least, start] = [0, 0, undefined as Point | undefined]
  for (const [index, { difference }] of differences.entries()) {
    total += difference
    if (total < least) [least, start] = [total, differences[index + 1]?.point]
  }
  return start
}

/** Names the model or market whose visibility is the lowest, beyond the noise. */
function weakestOf(label: string, changes: readonly Change[]): string[] {
  const known = changes.filter(({ now }) => isKnown(now))
  const [weakest, ...others] = known.sort((left, right) => shareOf(left.now) - shareOf(right.now))
  const rest = total(others.map(({ now }) => now))
  if (weakest === undefined || !isKnown(rest) || isNoise(rest, weakest.now)) return []
  return [`Weakest ${label.toLowerCase().slice(0, -1)}: ${weakest.name} (${round(shareOf(weakest.now))} %).`]
}

/** Writes a share in percent. */
const round = (share: number, digits = 0): string => (share * 100).toFixed(digits)

/** Writes two shares as whole percents, or with a decimal when they would look equal. */
const distinct = (first: number, second: number): [string, string] =>
  round(first) === round(second) ? [round(first, 1), round(second, 1)] : [round(first), round(second)]
