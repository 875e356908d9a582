import type { ClientBase } from 'pg'

/** The rows of a metric, which is named as its view, and of its endpoint, which is named as in its path. */
export type RowSchema = {
  readonly metric: string
  readonly endpoint: string
  readonly fields: readonly string[]
  /** The fields that add up. */
  readonly totals: readonly string[]
}

/**
 * Stages the schemas of rows for {@link activateRowSchemas}. Those of a new metric, which no Worker sends yet, are active, and its
 * days are listed again with those of others.
 */
export async function stageRowSchemas(client: ClientBase, schemas: readonly RowSchema[]): Promise<void> {
  // The sums of a day without rows have the form of others: those of decimals have four decimals.
  await client.query(
    `insert into daily.row_schemas (metric, endpoint, fields, totals, staged_fields, staged_totals, listed)
     select metric, endpoint, fields, sums, fields, sums, false
     from jsonb_to_recordset($1) as given (metric text, endpoint text, fields text[], totals text[])
     cross join lateral (
       select format(
         'format(''{%s}'', %s)',
         string_agg(format('"%s":%%s', field), ',' order by place),
         string_agg(
           format('coalesce(sum(%I), %s)', field, case when atttypid = 'numeric'::regtype then '0.0000' else '0' end),
           ', ' order by place)) as sums
       from unnest(totals) with ordinality as total (field, place)
       join pg_attribute on attrelid = format('daily.%I', metric)::regclass and attname = field
     ) as total
     on conflict (metric) do update
     set staged_fields = excluded.staged_fields, staged_totals = excluded.staged_totals`,
    [JSON.stringify(schemas)],
  )
}

/** Returns the metrics whose staged schema is not active. */
export async function stagedMetrics(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ metric: string }>(
    'select metric from daily.row_schemas where (fields, totals) <> (staged_fields, staged_totals) order by metric',
  )
  return rows.map(({ metric }) => metric)
}

/**
 * Activates the staged schemas, and lists every day of their metrics, one brand per transaction. The share writes their
 * objects again, since a digest does not tell the names of columns. Continues where an earlier call was interrupted.
 */
export async function activateRowSchemas(client: ClientBase): Promise<void> {
  await client.query('select daily.activate_row_schemas()')
  const { rows: schemas } = await client.query<{ metric: string }>(
    'select metric from daily.row_schemas where not listed',
  )
  for (const { metric } of schemas) {
    const { rows: brands } = await client.query<{ id: string }>(
      `select distinct brand_id as id
       from daily.changes join daily.row_schemas using (endpoint) where metric = $1`,
      [metric],
    )
    for (const { id } of brands) await client.query('select daily.relist($1, $2)', [metric, id])
    await client.query('update daily.row_schemas set listed = true where metric = $1', [metric])
  }
}
