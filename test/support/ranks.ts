/**
 * How far two samples lie apart, by the ranks of their values (Mann-Whitney's U), in standard deviations: about 0 when
 * both come from the same source, whatever its shape and however few values are far off.
 */
export function rankDistance(one: readonly number[], other: readonly number[]): number {
  const values = [
    ...one.map((value) => ({ value, isOne: true })),
    ...other.map((value) => ({ value, isOne: false })),
  ].toSorted((left, right) => left.value - right.value)
  let sum = 0
  for (let start = 0; start < values.length; ) {
    let end = start
    while (end < values.length && values[end]?.value === values[start]?.value) end += 1
    // Equal values share the mean of their ranks.
    sum += values.slice(start, end).filter(({ isOne }) => isOne).length * ((start + 1 + end) / 2)
    start = end
  }
  const [n, m] = [one.length, other.length]
  const u = sum - (n * (n + 1)) / 2
  return (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12)
}

/** The value below which such a part of a sample lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}
