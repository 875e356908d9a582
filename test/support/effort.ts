import fc, { type IAsyncProperty } from 'fast-check'

/** How much is tried: `HOSTILE_EFFORT=10` tries ten times as much as by default. */
const EFFORT = Number(process.env.HOSTILE_EFFORT ?? 1)

/** A number of tries, at the effort that was asked for. */
export const tries = (usual: number): number => Math.ceil(usual * EFFORT)

/** Milliseconds that a test may take, at the effort that was asked for. */
export const patience = (usual: number): number => Math.ceil(usual * Math.max(1, EFFORT))

/**
 * Holds a property over the running service to so many examples. `HOSTILE_SEED=…` repeats a run, whose failure tells its
 * seed. The first counterexample is reported as it was found: each attempt to shorten it would be requests again.
 */
export async function hold<Values extends unknown[]>(
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
