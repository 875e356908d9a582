import pg from 'pg'
import { logAll } from '../../drizzle/db/refresh.ts'
import { settles } from './locks.ts'
import { brand } from './raw-changes.ts'

/** Who acts: one that commits at once. On a server also one that leaves its transactions open for a while, and others. */
export type Actors = {
  readonly first: pg.Client
  readonly second?: pg.Client
  readonly connect?: () => Promise<pg.Client>
}

/** What may happen between changes. */
export const PASSAGES: Readonly<Record<string, (actors: Actors, a: number, b: number) => Promise<unknown>>> =
  {
    refresh: ({ first }, a, b) => refreshSome(first, a, b),
    refreshInVain: async ({ first }, a, b) => {
      await first.query('begin')
      await refreshSome(first, a, b)
      await first.query('rollback')
    },
    refreshAside: async ({ second }, a, b) => {
      await second?.query('begin')
      if (second) await refreshSome(second, a, b)
    },
    refreshToTheEnd: ({ first }) => refreshOnce(first),
    refreshThreeAtOnce: async ({ first, second, connect }) => {
      await second?.query('commit')
      const third = await connect?.()
      const refreshes = [first, second, third].map(
        (client) => client && passedOver(client, () => refreshOnce(client)),
      )
      await Promise.all(refreshes).finally(() => third?.end())
    },
    killRefresh: async ({ first, connect }) => {
      const victim = await connect?.()
      if (victim) await killWaiting(first, victim)
    },
    recomputeAll: ({ first }) => logAll(first),
    relist: ({ first }, a, b) =>
      first.query(
        `select daily.relist(metric, ${brand(a)}, (now() at time zone 'UTC')::date - 2)
       from daily.row_schemas order by metric limit ${1 + (b % 6)}`,
      ),
    // Days were listed while the clock was ahead.
    setClockBack: ({ first }, a) =>
      first.query(
        `with ahead as (
           update daily.changes_clock set last = last + interval '1 hour'
           returning to_char(last at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as changed_at
         )
         update daily.changes set changed_at = ahead.changed_at from ahead where brand_id = ${brand(a)}`,
      ),
    commit: async ({ second }) => second?.query('commit'),
    rollback: async ({ second }) => second?.query('rollback'),
  }

/** Gives one brand its turn. */
const refreshSome = (client: pg.Client, a: number, b: number) =>
  client.query(`select daily.refresh(${brand(a)}, '0 s', ${1 + (b % 3)})`)

/** Resolves the log and computes every day of the queue, unless other refreshes do. */
const refreshOnce = (client: pg.Client) =>
  client.query(`select daily.refresh(null, '1 min', 31) from daily.resolve()`)

/** Ends the session of a refresh that has changed days, when it is about to list them. */
async function killWaiting(client: pg.Client, victim: pg.Client): Promise<void> {
  victim.on('error', () => {})
  try {
    const { rows } = await victim.query('select pg_backend_pid() as pid')
    await client.query('begin')
    await client.query('update daily.changes_clock set last = last')
    const work = refreshOnce(victim).catch(() => {})
    if (!(await settles(client, work, rows[0].pid)))
      await client.query('select pg_terminate_backend($1, 10000)', [rows[0].pid])
    await work
    await client.query('rollback')
  } finally {
    await victim.end()
  }
}

/** What a lock, a deadlock or a row gone meanwhile refuses is as if it had not been tried. */
const REFUSALS = new Set(['55P03', '40P01', '40001', '23503', '23505'])

/** Does work unless it is refused. */
export async function passedOver(client: pg.Client, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && REFUSALS.has(error.code ?? ''))) throw error
    await client.query('rollback')
  }
}
