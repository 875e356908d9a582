import type pg from 'pg'

/** Rows that a daily table and its view do not share, each with the metric and the side that has it; notes that are left. */
export async function differences(db: pg.Pool | pg.ClientBase): Promise<unknown[]> {
  const { rows: metrics } = await db.query<{ metric: string; columns: string }>(
    `select stored.table_name as metric, string_agg(quote_ident(column_name), ', ' order by ordinal_position) as columns
     from information_schema.columns as stored
     join information_schema.views as defined on defined.table_schema = 'metrics' and defined.table_name = stored.table_name
     where stored.table_schema = 'daily' and stored.is_generated = 'NEVER'
     group by 1 order by 1`,
  )
  const found: unknown[] = []
  for (const { metric, columns } of metrics) {
    const [stored, defined] = [`daily.${metric}`, `metrics.${metric}`].map(
      (from) => `select ${columns} from ${from}`,
    )
    const { rows } = await db.query(
      `select '${metric}' as metric, 'stored only' as side, * from (${stored} except all ${defined}) as extra
       union all select '${metric}', 'view only', * from (${defined} except all ${stored}) as missing
       order by side, date`,
    )
    found.push(...rows)
  }
  if (metrics.length < 6) throw new Error(`Only ${metrics.length} metrics have both a view and a daily table`)
  const left = await db.query('select to_jsonb(entry) as left from daily.refresh_queue as entry')
  const logged = await db.query('select to_jsonb(entry) as left from daily.change_log as entry')
  const causes = await db.query('select to_jsonb(entry) as left from daily.queued_causes as entry')
  return [...found, ...left.rows, ...logged.rows, ...causes.rows]
}
