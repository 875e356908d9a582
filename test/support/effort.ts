import fc, { type IAsyncProperty } from 'fast-check'

/** How much is tried: `HOSTILE_EFFORT=10` tries ten times as much as by default. */
const EFFORT = Number(process.env.HOSTILE_EFFORT ?? 1)

/** A number of tries, scaled by `HOSTILE_EFFORT`. */
export const tries = (usual: number): number => Math.ceil(usual * EFFORT)

/** A test's timeout in milliseconds, scaled by `HOSTILE_EFFORT`. */
export const scaledTimeout = (usual: number): number => Math.ceil(usual * Math.max(1, EFFORT))

/**
 * Checks a property over the running service with that many examples. `HOSTILE_SEED=…` repeats a failed run.
 * Counterexamples are not shortened: each attempt would send requests again.
 */
export async function checkProperty<Values extends unknown[]>(
  property: IAsyncProperty<Values>,
  usual: number,
): Promise<void> {
  const given = process.env.HOSTILE_SEED
  const outcome = await fc.check(property, {
    numRuns: tries(usual),
    endOnFailure: true,
    ...(given !== undefined && { seed: Number(given) }),
  })
  if (!outcome.failed) return
  const cause = outcome.errorInstance
  const why = cause instanceof Error ? cause.message : String(cause)
  throw new Error(`With HOSTILE_SEED=${outcome.seed}, in run ${outcome.numRuns}: ${why}`, { cause })
}
