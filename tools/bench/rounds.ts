/** Milliseconds that work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** The middle of some numbers. */
export const median = (numbers: readonly number[]): number => quantile(numbers, 0.5)

/** The number that a share of some numbers does not exceed, between two neighbours in proportion. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const lower = sorted[Math.floor(place)] ?? Number.NaN
  const upper = sorted[Math.ceil(place)] ?? Number.NaN
  return lower + (upper - lower) * (place - Math.floor(place))
}

/**
 * Runs contenders in turns, every other round in reverse order, so that what disturbs the machine disturbs all.
 * Each gives its own measure; the result gives all of one name's. The first round warms up.
 */
export async function inTurns<Measure>(
  contenders: Readonly<Record<string, () => Promise<Measure>>>,
  rounds: number,
): Promise<(name: string) => readonly Measure[]> {
  const entries = Object.entries(contenders)
  const measures = new Map(entries.map(([name]) => [name, [] as Measure[]]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, measure] of round % 2 === 0 ? entries : entries.toReversed()) {
      const value = await measure()
      if (round > 0) measures.get(name)?.push(value)
    }
  }
  return (name) => {
    const values = measures.get(name)
    if (values === undefined) throw new Error(`Nothing ran under the name ${name}`)
    return values
  }
}

/** Runs contenders in turns as {@link inTurns} does, each measure a number, in milliseconds say; gives the median by name. */
export async function alternate(
  contenders: Readonly<Record<string, () => Promise<number>>>,
  rounds: number,
): Promise<(name: string) => number> {
  const measures = await inTurns(contenders, rounds)
  return (name) => median(measures(name))
}
