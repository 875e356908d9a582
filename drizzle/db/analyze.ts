import type { ClientBase } from 'pg'

/** Has Postgres look at the raw tables, whatever it knows of them. */
export const analyzeAll = (client: ClientBase): Promise<void> => analyze(client, 'true')

/**
 * Has Postgres look at the raw tables most of whose rows came since it last did. What was loaded just now it takes for a
 * handful of rows, and may then read all citations once for each answer. Tables that are not this role's stay as they are.
 */
export async function analyzeLoaded(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ may: boolean }>(
    `select has_function_privilege('daily.source_tables()', 'execute') as may`,
  )
  if (!rows[0]?.may) return
  await analyze(client, `n_mod_since_analyze > n_live_tup / 2 and pg_has_role(relowner, 'usage')`)
}

async function analyze(client: ClientBase, which: string): Promise<void> {
  const { rows } = await client.query<{ base: string }>(
    `select distinct base::text
     from daily.source_tables()
     join pg_class on pg_class.oid = base
     join pg_stat_user_tables on relid = base
     where ${which}`,
  )
  if (rows.length > 0) await client.query(`analyze ${rows.map(({ base }) => base).join(', ')}`)
}
