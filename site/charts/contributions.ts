import { type Compared, cellsOf, type Days, type Lines, type Point, rateOf, type View } from './lines.ts'
import { type Cell, type Sides, type Sums, shareOf, sum, total } from './sums.ts'

/** What a model or market adds to the change of a rate, in tenths of a point. */
export type Contribution = {
  readonly name: string
  readonly before: Sides
  readonly now: Sides
  /** By its own rate. */
  readonly rate: number
  /** By its share of all answers. */
  readonly mix: number
}

/** The change of a rate between two periods. Its contributions add up to it, by each field. */
export type Decomposition = {
  readonly before: Sides
  readonly now: Sides
  /** In tenths of a point. */
  readonly change: number
  readonly byField: Readonly<Record<string, readonly Contribution[]>>
}

/**
 * Explains the change of a rate by fields of the rows. Returns null when a period has no answers. With the shares w of
 * all answers and the rates r of a cell, w·r changes by mean(w)·Δr, its rate, and Δw·(mean(r) − the mean of the whole rate),
 * its mix. A cell without answers in a period has no rate of its own there, so all of its change is mix.
 */
export function decompose(
  sums: Sums,
  { before, now, where = {} }: Compared & Pick<View, 'where'>,
  fields: readonly string[],
): Decomposition | null {
  const cells = cellsOf(sums, where).map((cell) => ({
    values: cell.values,
    before: sumOf(sums, cell, before),
    now: sumOf(sums, cell, now),
  }))
  const whole = { before: total(cells.map((cell) => cell.before)), now: total(cells.map((cell) => cell.now)) }
  if (whole.before.whole === 0 || whole.now.whole === 0) return null
  const [rateBefore, rateNow] = [shareOf(whole.before), shareOf(whole.now)]
  const effects = cells.map((cell) => {
    const [shareBefore, shareNow] = [cell.before.whole / whole.before.whole, cell.now.whole / whole.now.whole]
    const own = cell.now.whole > 0 ? shareOf(cell.now) : shareOf(cell.before)
    const earlier = cell.before.whole > 0 ? shareOf(cell.before) : own
    const middle = (rateBefore + rateNow) / 2
    return {
      ...cell,
      rate: ((shareBefore + shareNow) / 2) * (own - earlier) * 1000 || 0,
      mix: (shareNow - shareBefore) * ((own + earlier) / 2 - middle) * 1000 || 0,
    }
  })
  const change = Math.round((rateNow - rateBefore) * 1000)
  const byField = Object.fromEntries(
    fields.map((field) => {
      const names = [...new Set(effects.flatMap(({ values }) => values[field] ?? []))]
      const groups = names.map((name) => ({
        name,
        of: effects.filter(({ values }) => values[field] === name),
      }))
      const exact = groups.flatMap(({ of }) => [
        sum(of.map(({ rate }) => rate)),
        sum(of.map(({ mix }) => mix)),
      ])
      const rounded = roundTo(change, exact)
      const contributions = groups.map(({ name, of }, index) => ({
        name,
        before: total(of.map((cell) => cell.before)),
        now: total(of.map((cell) => cell.now)),
        rate: rounded[2 * index] ?? 0,
        mix: rounded[2 * index + 1] ?? 0,
      }))
      return [
        field,
        contributions.sort((left, right) => Math.abs(pointsOf(right)) - Math.abs(pointsOf(left))),
      ]
    }),
  )
  return { ...whole, change, byField }
}

/** Returns what a model or market adds in all, in tenths of a point. */
export const pointsOf = ({ rate, mix }: Contribution): number => rate + mix

/** Rounds numbers to whole ones that add up to a sum: down, and the largest remainders up. */
function roundTo(wanted: number, exact: readonly number[]): number[] {
  const rounded = exact.map(Math.floor)
  const remainder = (index: number) => (exact[index] ?? 0) - (rounded[index] ?? 0)
  const byRemainder = [...exact.keys()].sort((left, right) => remainder(right) - remainder(left))
  for (const index of byRemainder.slice(0, wanted - sum(rounded))) rounded[index] = (rounded[index] ?? 0) + 1
  return rounded
}

/**
 * Returns the point of a line at which its change began: after it, the sums lie most above those of the mean rate, or below for a
 * negative change. Undefined when there is none.
 */
export function startOf({ lines: [line], points }: Lines, change: number): Point | undefined {
  const mean = line === undefined ? null : rateOf(line)
  if (line === undefined || mean === null) return undefined
  let [above, most, start] = [0, 0, undefined as Point | undefined]
  for (const [index, whole] of line.whole.slice(0, -1).entries()) {
    above += (line.part[index] ?? 0) - (whole * mean) / 100
    const lack = -Math.sign(change) * above
    if (lack > most) [most, start] = [lack, points[index + 1]]
  }
  return start
}

function sumOf({ days }: Sums, { part, whole }: Cell, { from, to }: Days): Sides {
  const isWithin = (_: number, index: number) => (days[index] ?? '') >= from && (days[index] ?? '') <= to
  return { part: sum(part.filter(isWithin)), whole: sum(whole.filter(isWithin)) }
}
