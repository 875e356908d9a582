/** Milliseconds that work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}

/**
 * Runs contenders in turns, every other round in reverse order, so that what disturbs the machine disturbs all.
 * Each gives its own measure, in milliseconds say; the result gives the median by name. The first round warms up.
 */
export async function alternate(
  contenders: Readonly<Record<string, () => Promise<number>>>,
  rounds: number,
): Promise<(name: string) => number> {
  const entries = Object.entries(contenders)
  const measures = new Map(entries.map(([name]) => [name, [] as number[]]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, measure] of round % 2 === 0 ? entries : entries.toReversed()) {
      const value = await measure()
      if (round > 0) measures.get(name)?.push(value)
    }
  }
  return (name) => {
    const values = measures.get(name)
    if (values === undefined) throw new Error(`Nothing ran under the name ${name}`)
    return median(values)
  }
}
