import { FEW_ANSWERS } from '../charts/lines.ts'

/** A rate in percent, and the answers that it rests on. */
export type Measure = { readonly rate: number | null; readonly answers: number }

/** A rate in a period, and in the one before when there is one. */
export type Change = { readonly name: string; readonly now: Measure; readonly before?: Measure | undefined }

type Summary = {
  readonly visibility: Change
  /** The visibility of competitors; none when a filter is on that it does not have. */
  readonly competitors: readonly Change[]
  readonly models: readonly Change[]
}

/** Smaller changes are no change, in points. */
const HELD = 0.5

/** Returns the rate when enough answers support it. */
export const knownRate = (measure: Measure | undefined): number | undefined =>
  measure === undefined || measure.rate === null || measure.answers < FEW_ANSWERS ? undefined : measure.rate

/** Says in a sentence or two whether a brand does better or worse. */
export function summarize({ visibility: { now, before }, competitors, models }: Summary): string {
  const [rate, earlier] = [knownRate(now), knownRate(before)]
  if (rate === undefined) return `Too few answers to tell: ${now.answers} in this period.`
  const [rival] = ranked(competitors)
  const wasAhead = earlier === undefined || rival?.before === undefined ? undefined : earlier - rival.before
  const clauses = [
    courseOf(rate, earlier),
    ...(rival ? [leadOver(rival.name, rate - rival.rate, wasAhead)] : []),
    ...(before && earlier === undefined ? ['the period before has too few answers to compare'] : []),
  ]
  return [`${clauses.join('; ')}.`, ...extremesOf(models)].join(' ')
}

function courseOf(rate: number, before: number | undefined): string {
  if (before === undefined) return `Visibility is ${round(rate)} %`
  if (Math.abs(rate - before) < HELD) return `Visibility held at ${round(rate)} %`
  const [from, to] = distinct(before, rate)
  return `Visibility ${rate > before ? 'rose' : 'fell'} from ${from} to ${to} %`
}

/** Says how many points the brand is ahead of its strongest competitor, or behind it. */
function leadOver(name: string, lead: number, before: number | undefined): string {
  const sideOf = (points: number) => (Math.abs(points) < HELD ? 0 : Math.sign(points))
  const [isAhead, isLevel] = [lead > 0, sideOf(lead) === 0]
  const by = `${round(Math.abs(lead))} ${round(Math.abs(lead)) === '1' ? 'point' : 'points'}`
  if (before === undefined)
    return isLevel ? `level with ${name}` : `${by} ${isAhead ? 'ahead of' : 'behind'} ${name}`
  if (isLevel) return `${sideOf(before) === 0 ? 'still' : 'now'} level with ${name}`
  const [winner, loser] = isAhead ? ['the brand', name] : [name, 'the brand']
  if (sideOf(before) !== sideOf(lead)) return `${winner} overtook ${loser} and leads by ${by}`
  const whose = isAhead ? `the lead over ${name}` : `${name}'s lead`
  if (Math.abs(lead - before) < HELD) return `${whose} held at ${by}`
  const [from, to] = distinct(Math.abs(before), Math.abs(lead))
  return `${whose} ${Math.abs(lead) > Math.abs(before) ? 'grew' : 'shrank'} from ${from} to ${to} points`
}

/** Names the models with the highest and the lowest visibility. */
function extremesOf(models: readonly Change[]): string[] {
  const known = ranked(models)
  const [best, worst] = [known[0], known.at(-1)]
  if (best === undefined || worst === undefined || best.rate - worst.rate < HELD) return []
  const [high, low] = distinct(best.rate, worst.rate)
  return [`It is highest in ${best.name} (${high} %) and lowest in ${worst.name} (${low} %).`]
}

/** Returns the known rates, the highest first. */
const ranked = (changes: readonly Change[]) =>
  changes
    .flatMap(({ name, now, before }) => {
      const rate = knownRate(now)
      return rate === undefined ? [] : [{ name, rate, before: knownRate(before) }]
    })
    .sort((left, right) => right.rate - left.rate)

const round = (value: number): string => value.toFixed(0)

/** Writes two numbers as whole ones, or with a decimal when they would look equal. */
const distinct = (first: number, second: number): [string, string] =>
  round(first) === round(second) ? [first.toFixed(1), second.toFixed(1)] : [round(first), round(second)]
