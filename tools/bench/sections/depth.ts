import type { ClientBase } from 'pg'
import { service } from '../contenders/service.ts'
import { inContest } from '../contest.ts'
import { connect, fetchBody } from '../drive.ts'
import { figure } from '../print.ts'
import { inTurns, median, timed } from '../rounds.ts'
import type { Section, Table } from '../section.ts'

const ROUNDS = 300
const WITHOUT_STATISTICS =
  'PostgreSQL’s own time is not told: the server does not load pg_stat_statements (shared_preload_libraries).'

/** What a page costs far into a run against the first one: the whole request, and PostgreSQL's part of it. */
export const section: Section = (setting) =>
  inContest(setting, [service], async ({ client, contest, entrants, failed }): Promise<Table[]> => {
    const [entrant] = entrants
    if (entrant === undefined) throw new Error(failed.map(({ reason }) => reason).join(' '))
    const rounds = Math.round(setting.sized(ROUNDS))
    const hasStatistics = await prepareStatistics(client)
    const pool = connect(entrant.running.server.url, 1)
    try {
      const request =
        ({ ask, expected }: (typeof entrant)['first']) =>
        async () => {
          const before = hasStatistics ? await inPostgres(client) : 0
          let body: Buffer | undefined
          const whole = await timed(async () => {
            body = await fetchBody(pool, ask)
          })
          if (!body?.equals(expected)) throw new Error('A page differs from what it was')
          return { whole, postgres: hasStatistics ? (await inPostgres(client)) - before : Number.NaN }
        }
      const measured = await inTurns({ first: request(entrant.first), deep: request(entrant.deep) }, rounds)
      const whole = (page: string) => median(measured(page).map((measure) => measure.whole))
      const postgres = (page: string) => median(measured(page).map((measure) => measure.postgres))
      return [
        {
          title: `A page ${figure(contest.depth)} rows deep, against the first`,
          columns: ['what is timed', 'first page', 'deep page'],
          rows: [
            ['the whole request', 1, whole('deep') / whole('first')],
            ...(hasStatistics
              ? [['planning and executing its statement', 1, postgres('deep') / postgres('first')]]
              : []),
          ],
          note: `1 = the first page (whole ${figure(whole('first'))} ms${hasStatistics ? `, PostgreSQL ${figure(postgres('first'))} ms` : ''}). Medians of ${rounds} alternating requests over one connection; every body was the page’s. ${hasStatistics ? 'PostgreSQL’s time is that of all statements of the request, by pg_stat_statements.' : WITHOUT_STATISTICS}`,
        },
      ]
    } finally {
      await pool.close()
    }
  })

/** Whether the server counts its statements' time; it then counts planning too. */
async function prepareStatistics(client: ClientBase): Promise<boolean> {
  try {
    await client.query('create extension pg_stat_statements')
    await client.query('select from pg_stat_statements limit 1')
    await client.query(`do $$ begin
      execute format('alter database %I set pg_stat_statements.track_planning = on', current_database()); end $$`)
    return true
  } catch {
    return false
  }
}

/** Milliseconds that PostgreSQL has spent on this database's statements, but for those that look at this. */
async function inPostgres(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ ms: number }>(
    `select sum(total_plan_time + total_exec_time) as ms from pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database()) and query not like '%pg_stat_statements%'`,
  )
  return rows[0]?.ms ?? 0
}
