import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { sqlState } from './sql-state.ts'

/** What one transaction brings up to date at most. */
export type Step = { readonly brands: number; readonly days: number }

const SHORT: Step = { brands: 10, days: 31 }

/** That there are raw tables whose changes nobody notes; the message names them. */
export class UntrackedTablesError extends Error {}

const NOT_IN_STATE = '55000'

/** Notes every day of every brand and metric, to be computed anew. */
export async function enqueueAll(client: ClientBase): Promise<void> {
  await client.query('insert into daily.refresh_queue (metric) select distinct metric from daily.sources')
}

/** How many days each refresh computes anew, and the day before them. */
export type RollingWindow = { readonly days: number; readonly settledThrough: string }

/**
 * Notes the last days anew where nothing notes the changes of raw rows (`daily.rolling_window`); undefined where triggers do.
 * Throws {@link UntrackedTablesError} where neither is so.
 */
export async function enqueueRollingWindow(client: ClientBase): Promise<RollingWindow | undefined> {
  await client.query('select daily.enqueue_rolling_window(true)').catch((error) => {
    throw sqlState(error) === NOT_IN_STATE ? new UntrackedTablesError(error.message) : error
  })
  const { rows } = await client.query<RollingWindow>(
    'select days, watermark::text as "settledThrough" from daily.rolling_window',
  )
  return rows[0]
}

/** Brings every stored day up to date, one short transaction after another; `onStep` hears how many notes each settled. */
export async function refreshAll(
  client: ClientBase,
  onStep: (settled: number) => void | Promise<void> = () => {},
  most: Step = SHORT,
): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ settled: number; waiting: boolean }>(
      'select daily.refresh($1, $2) as settled, exists (select from daily.refresh_queue) as waiting',
      [most.brands, most.days],
    )
    const [step] = rows
    if (step === undefined || (step.settled === 0 && !step.waiting)) return
    // What is left is under way elsewhere: another refresh has it, and ends soon or leaves it to this one.
    if (step.settled === 0) await sleep(200)
    else await onStep(step.settled)
  }
}
