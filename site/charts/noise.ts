import { type Sides, shareOf } from './sums.ts'

/** Rates of fewer answers are mostly chance. */
export const FEW_ANSWERS = 10

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

/** Whether a point has so few answers that its rate is mostly chance. */
export const isFew = (answers = 0): boolean => answers > 0 && answers < FEW_ANSWERS

/** Whether enough answers support a rate. */
export const isKnown = (sides: Sides | undefined): sides is Sides =>
  sides !== undefined && sides.whole >= FEW_ANSWERS

/** Says that two rates do not differ, or cannot be compared; undefined when they differ. */
export function sameness(before: Sides, now: Sides): string | undefined {
  if (!isKnown(before) || !isKnown(now)) return 'too few answers to compare'
  return isNoise(before, now) ? 'unchanged within the noise' : undefined
}
