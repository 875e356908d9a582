import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { sqlState } from './sql-state.ts'

/** The most that one transaction computes. */
export type Step = { readonly brands: number; readonly days: number }

const SHORT: Step = { brands: 10, days: 31 }

/**
 * Thrown when no trigger tracks the changes of some tables and there is no rolling window; the message names the
 * tables.
 */
export class UntrackedTablesError extends Error {}

const NOT_IN_PREREQUISITE_STATE = '55000'

/** Enqueues every day of every brand and metric. */
export async function enqueueAll(client: ClientBase): Promise<void> {
  await client.query('insert into daily.refresh_queue (metric) select distinct metric from daily.sources')
}

/** How many days each refresh recomputes, and the last day before them (`YYYY-MM-DD`). */
export type RollingWindow = { readonly days: number; readonly watermark: string }

/**
 * Enqueues the days of the rolling window. Returns undefined where triggers track changes instead. Throws
 * {@link UntrackedTablesError} where neither is set up.
 */
export async function enqueueRollingWindow(client: ClientBase): Promise<RollingWindow | undefined> {
  await client.query('select daily.enqueue_rolling_window(true)').catch((error) => {
    throw sqlState(error) === NOT_IN_PREREQUISITE_STATE ? new UntrackedTablesError(error.message) : error
  })
  const { rows } = await client.query<RollingWindow>('select days, watermark::text from daily.rolling_window')
  return rows[0]
}

/**
 * Recomputes every day in the queue, one short transaction after another. Calls `onStep` with the number of entries
 * that each processed.
 */
export async function refreshAll(
  client: ClientBase,
  onStep: (processed: number) => void | Promise<void> = () => {},
  { brands, days }: Step = SHORT,
): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ processed: number; waiting: boolean }>(
      'select daily.refresh($1, $2) as processed, exists (select from daily.refresh_queue) as waiting',
      [brands, days],
    )
    const [step] = rows
    if (step === undefined || (step.processed === 0 && !step.waiting)) return
    // Another refresh has locked the remaining entries. It finishes soon, or fails and leaves them.
    if (step.processed === 0) await sleep(200)
    else await onStep(step.processed)
  }
}
