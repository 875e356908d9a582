import type { ClientBase } from 'pg'
import { isDataError } from './sql-state.ts'

/** Runs `ANALYZE` on the tables under the sources. */
export const analyzeAll = (client: ClientBase): Promise<void> => analyze(client, 'true')

/**
 * Runs `ANALYZE` on those whose statistics are stale because most rows were loaded since. Postgres takes such a table
 * for a small one, and may then read all citations once per answer. Skips tables that the current role does not own.
 */
export async function analyzeLoaded(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ allowed: boolean }>(
    `select has_function_privilege('daily.source_tables()', 'execute') as allowed`,
  )
  if (!rows[0]?.allowed) return
  await analyze(client, `n_mod_since_analyze > n_live_tup / 2 and pg_has_role(relowner, 'usage')`)
}

async function analyze(client: ClientBase, condition: string): Promise<void> {
  const { rows } = await client.query<{ base: string }>(
    `select distinct base::text
     from daily.source_tables()
     join pg_class on pg_class.oid = base
     join pg_stat_user_tables on relid = base
     where ${condition}`,
  )
  for (const { base } of rows)
    await client.query(`analyze (skip_locked) ${base}`).catch((error) => {
      // An expression of the application's own statistics raises an error for a row.
      if (!isDataError(error)) throw error
    })
}
