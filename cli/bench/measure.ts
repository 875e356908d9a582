import { median as middle } from 'd3-array'

/** Returns the milliseconds that work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

export const median = (numbers: readonly number[]): number => middle(numbers) ?? Number.NaN

/**
 * Runs measurements in alternating order, so that a disturbance of the machine affects all of them. The first round
 * warms up. Returns a function that gives the median of one property over the rounds of one name.
 */
export async function alternate<Name extends string, Measure>(
  measurements: Readonly<Record<Name, () => Promise<Measure>>>,
  rounds: number,
): Promise<(name: Name, value: (measure: Measure) => number) => number> {
  const results = new Map<string, Measure[]>()
  const entries = Object.entries<() => Promise<Measure>>(measurements)
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, measure] of round % 2 === 0 ? entries : entries.toReversed()) {
      const result = await measure()
      if (round > 0) results.set(name, [...(results.get(name) ?? []), result])
    }
  }
  return (name, value) => median((results.get(name) ?? []).map(value))
}
