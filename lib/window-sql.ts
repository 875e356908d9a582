import { type SQL, sql } from 'drizzle-orm'

/** SQL of the relation `windows`, which holds the JSON of `windowByPlan`. */
export const windows: SQL = sql`(select ${sql.placeholder('window_by_plan')}::jsonb as by_plan) as windows`

/** SQL of the first or last day of the window under `access.plan`. */
export const dayOfWindow = (day: 'first' | 'last'): SQL =>
  sql`(windows.by_plan -> access.plan ->> ${sql.raw(`'${day}'`)})::date`
