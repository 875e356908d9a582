/** Sums of the sides of a formula. */
export type Sides = { readonly part: number; readonly whole: number }

/** The quantile of the normal distribution for 95 %, two-sided. */
const Z = 1.96

/** Returns the z-value of the difference of two proportions: the pooled test. 0 where there is none to test. */
export function zOf(before: Sides, now: Sides): number {
  const pooled = (before.part + now.part) / (before.whole + now.whole)
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / before.whole + 1 / now.whole))
  return (now.part / now.whole - before.part / before.whole) / deviation || 0
}

/** Whether chance alone would change a proportion as much in more than one of twenty cases. */
export const isNoise = (before: Sides, now: Sides): boolean => Math.abs(zOf(before, now)) <= Z
