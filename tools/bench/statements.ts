import type { ClientBase } from 'pg'
import { UsageError } from '../../drizzle/db/connect.ts'

/** Milliseconds that Postgres spent on statements: executing them, and planning them ahead of that. */
export type Statements = { readonly executing: number; readonly planning: number }

/**
 * Counts the statements of this database in sessions that begin from here on, with their planning, which a server leaves
 * out unless it is told; a sentence tells when it does not count at all.
 */
export async function statements(client: ClientBase): Promise<{
  readonly reset: () => Promise<void>
  readonly read: () => Promise<Statements>
}> {
  try {
    await client.query('create extension if not exists pg_stat_statements')
    await client.query('select from pg_stat_statements limit 1')
  } catch {
    throw new UsageError(
      'This section needs a server that counts its statements: shared_preload_libraries = pg_stat_statements',
    )
  }
  await client.query(
    `do $$ begin execute format('alter database %I set pg_stat_statements.track_planning = on', current_database()); end $$`,
  )
  const ours = `dbid = (select oid from pg_database where datname = current_database())`
  return {
    reset: async () => {
      await client.query(
        `select pg_stat_statements_reset(0, (select oid from pg_database where datname = current_database()), 0)`,
      )
    },
    read: async () => {
      const { rows } = await client.query<Statements>(
        `select coalesce(sum(total_exec_time), 0) as executing, coalesce(sum(total_plan_time), 0) as planning
         from pg_stat_statements where ${ours} and query !~ 'pg_stat_statements'`,
      )
      return rows[0] ?? { executing: Number.NaN, planning: Number.NaN }
    },
  }
}
