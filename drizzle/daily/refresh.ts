import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'

/** Days of brands that one transaction brings up to date at most: small enough to end well within a Worker's time. */
export const BRANDS_A_STEP = 10

/** Brings every stored day up to date, one short transaction after another; `onStep` hears how many each one did. */
export async function refreshAll(
  client: ClientBase,
  onStep: (refreshed: number) => void = () => {},
): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ refreshed: number; waiting: boolean }>(
      'select daily.refresh($1) as refreshed, exists (select from daily.stale) as waiting',
      [BRANDS_A_STEP],
    )
    const [step] = rows
    if (step === undefined || (step.refreshed === 0 && !step.waiting)) return
    onStep(step.refreshed)
    // What is left is under way elsewhere: another refresh has it, and ends soon or leaves it to this one.
    if (step.refreshed === 0) await sleep(200)
  }
}
