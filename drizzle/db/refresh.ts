import type { ClientBase } from 'pg'
import * as z from 'zod/mini'
import { sqlState } from './sql-state.ts'
import { UsageError } from './usage-error.ts'

/** How long one call computes, as a Postgres interval. The way to the database then hardly counts. */
const DURATION = '2 s'

/** The most days of one metric that one statement computes. */
const MAX_DAYS = 30

/** Milliseconds to wait while other refreshes compute all brands that wait. */
const PAUSE_MS = 500

type Row = Readonly<Record<string, string | null>>

/** Runs a statement with text parameters and returns its only row, whose cells are text. */
export type RunStatement = (sql: string, params: readonly (string | null)[]) => Promise<Row | null>

/** A day that could not be computed. Its `message` can quote data. */
const Failure = z.object({
  metric: z.string(),
  brand_id: z.guid(),
  date: z.string(),
  code: z.string(),
  message: z.string(),
})
export type Failure = z.infer<typeof Failure>

export type RefreshOptions = {
  /** The connections of the lanes, which compute different brands side by side. */
  readonly lanes: readonly RunStatement[]
  /** Whether to retry failed days at once, and to start a pass of the rolling window while the last one is unfinished. */
  readonly restart: boolean
  readonly maxDays?: number
  /** Whether the run is over, before its next call. */
  readonly isOver?: () => boolean
  /** Called with the number of days that each call computed. */
  readonly onStep?: (processed: number) => void | Promise<void>
  readonly onFailure?: (failure: Failure) => void
}

/** The names of tables whose changes the triggers may miss; null means none. */
type Start = { readonly untracked: string | null }

/**
 * Resolves the log of changes and recomputes the days in the queue, until none can be computed now or the run is over.
 * A call that fails is repeated once. When that fails, its lane ends, and the run rejects after the others.
 */
export async function refresh({
  lanes,
  restart,
  maxDays = MAX_DAYS,
  ...options
}: RefreshOptions): Promise<Start> {
  const [first] = lanes
  if (first === undefined) throw new TypeError('A refresh needs a lane')
  // Starts after a random brand: where runs end before the last brand, all brands get their turn.
  const start = await first(
    `select started.untracked, (select brand_id::text from daily.queued_brands order by random() limit 1) as after
     from daily.start_refresh($1::boolean) as started`,
    [String(restart)],
  )
  const runs = lanes.map((run) => refreshLane(run, start?.after ?? null, maxDays, options))
  for (const outcome of await Promise.allSettled(runs))
    if (outcome.status === 'rejected') throw outcome.reason
  return { untracked: start?.untracked ?? null }
}

async function refreshLane(
  run: RunStatement,
  first: string | null,
  maxDays: number,
  { isOver, onStep, onFailure }: Pick<RefreshOptions, 'isOver' | 'onStep' | 'onFailure'>,
): Promise<void> {
  let after = first
  let hasFailed = false
  while (!isOver?.()) {
    const step = await run(
      `select brand_id::text, processed::text, done::text, failure::text
       from daily.refresh($1::uuid, $2::interval, $3::integer)`,
      [after, DURATION, String(maxDays)],
    ).catch((error) => {
      if (hasFailed) throw error
    })
    hasFailed = !step
    if (!step) continue
    if (step.done === 'true') return
    after = step.brand_id ?? null
    if (step.failure) onFailure?.(z.parse(Failure, JSON.parse(step.failure)))
    const processed = Number(step.processed)
    if (processed > 0) await onStep?.(processed)
    if (step.processed === null) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    // What changed meanwhile must not wait for the rest of the queue.
    else await run('select daily.resolve(false)::text as added', [])
  }
}

/**
 * Thrown when no trigger tracks the changes of some tables and there is no rolling window; the message names the
 * tables.
 */
export class UntrackedTablesError extends Error {}

const NOT_IN_PREREQUISITE_STATE = '55000'

/** Runs statements on a connection. */
export const runOn =
  (client: ClientBase): RunStatement =>
  async (sql, params) =>
    (await client.query(sql, [...params])).rows[0] ?? null

/**
 * Brings the stored rows up to date, with a lane for each connection, and however long it takes. Throws at the end when a
 * day could not be computed, and {@link UntrackedTablesError} where nothing tracks changes.
 */
export async function refreshAll(
  clients: ClientBase | readonly ClientBase[],
  options: Pick<RefreshOptions, 'onStep' | 'maxDays'> = {},
): Promise<Start> {
  let failed: Failure | undefined
  const connections = [clients].flat()
  for (const client of connections) await client.query('set statement_timeout = 0')
  const lanes = connections.map(runOn)
  const onFailure = (failure: Failure) => {
    failed = failure
  }
  const start = await refresh({ ...options, lanes, restart: true, onFailure }).catch((error) => {
    throw sqlState(error) === NOT_IN_PREREQUISITE_STATE ? new UntrackedTablesError(error.message) : error
  })
  if (failed === undefined) return start
  const { metric, date, brand_id, message } = failed
  throw new UsageError(`${metric} of ${date} of brand ${brand_id} cannot be computed: ${message}`)
}

/** Logs a change of all rows, so that the next refresh recomputes every day. */
export async function logAll(client: Pick<ClientBase, 'query'>): Promise<void> {
  await client.query(`insert into daily.change_log (source) values ('prompts')`)
}
