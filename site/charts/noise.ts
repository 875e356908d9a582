import { FEW_ANSWERS, percent, sum } from './lines.ts'

/** Sums of the sides of a formula. */
export type Sides = { readonly part: number; readonly whole: number }

/** Adds up sides. */
export const total = (sides: readonly Sides[]): Sides => ({
  part: sum(sides.map(({ part }) => part)),
  whole: sum(sides.map(({ whole }) => whole)),
})

/** Returns a rate as a share: NaN when there is nothing to divide by. */
export const shareOf = ({ part, whole }: Sides): number => part / whole

/** Writes a rate with a decimal. */
export const percentOf = (sides: Sides): string => percent(sides.whole === 0 ? null : shareOf(sides) * 100, 1)

/** The quantile of the normal distribution for 95 %, two-sided. */
const Z = 1.96

/** Returns the z-value of the difference of two proportions: the pooled test. 0 where there is none to test. */
export function zOf(before: Sides, now: Sides): number {
  const pooled = (before.part + now.part) / (before.whole + now.whole)
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / before.whole + 1 / now.whole))
  return (shareOf(now) - shareOf(before)) / deviation || 0
}

/** Whether chance alone would change a proportion as much in more than one of twenty cases. */
export const isNoise = (before: Sides, now: Sides): boolean => Math.abs(zOf(before, now)) <= Z

/** Whether enough answers support a rate. */
export const isKnown = (sides: Sides | undefined): sides is Sides =>
  sides !== undefined && sides.whole >= FEW_ANSWERS

/** Says that two rates do not differ, or cannot be compared; undefined when they differ. */
export function sameness(before: Sides, now: Sides): string | undefined {
  if (!isKnown(before) || !isKnown(now)) return 'too few answers to compare'
  return isNoise(before, now) ? 'unchanged within the noise' : undefined
}
