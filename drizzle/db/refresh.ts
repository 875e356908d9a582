import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { sqlState } from './sql-state.ts'

/** How long one transaction computes, as a Postgres interval. It ends the statement that it has begun. */
const BUDGET = '2 s'

/** The most days of one metric that one statement computes. */
const MAX_DAYS = 31

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

type Failure = {
  readonly metric: string
  readonly brand_id: string
  readonly date: string
  readonly message: string
}

/** What `daily.refresh` returns. */
type Progress = {
  readonly brand_id: string | null
  readonly processed: number | null
  readonly done: boolean
  readonly failure: Failure | null
}

const progressOf = async (client: ClientBase, values: unknown[]): Promise<Progress[]> =>
  (await client.query('select * from daily.refresh($1, $2, $3, $4)', values)).rows

/**
 * Recomputes every day in the queue, one short transaction after another. Calls `onStep` with the number of entries
 * that each processed. Throws at the end when a day could not be computed.
 */
export async function refreshAll(
  client: ClientBase,
  onStep: (processed: number) => void | Promise<void> = () => {},
  maxDays = MAX_DAYS,
): Promise<void> {
  await client.query('select daily.enqueue_rechecks()')
  const { rows: starts } = await client.query<{ since: string }>('select clock_timestamp()::text as since')
  let after: string | null = null
  let failed: Failure | null = null
  for (let done = false; !done; ) {
    const values = [after, starts[0]?.since, BUDGET, maxDays]
    const [progress] = await progressOf(client, values)
    if (progress === undefined) return
    if (progress.processed === null) await sleep(200)
    else if (progress.processed > 0) await onStep(progress.processed)
    after = progress.brand_id
    failed = progress.failure ?? failed
    done = progress.done
  }
  if (failed !== null) {
    const { metric, date, brand_id, message } = failed
    throw new Error(`${metric} of ${date} of brand ${brand_id} cannot be computed: ${message}`)
  }
}
