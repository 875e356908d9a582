import type { ClientBase } from 'pg'

/** The rows of a metric, which is named as its view, and of its endpoint, which is named as in its path. */
export type RowSchema = {
  readonly metric: string
  readonly endpoint: string
  readonly fields: readonly string[]
  /** The fields that add up. */
  readonly totals: readonly string[]
}

/** Stores the schemas of rows. */
export async function updateRowSchemas(client: ClientBase, schemas: readonly RowSchema[]): Promise<void> {
  // The sums of a day without rows have the form of others: those of decimals have four decimals.
  await client.query(
    `insert into daily.row_schemas (metric, endpoint, fields, totals)
     select metric, endpoint, fields, (
       select format(
         'format(''{%s}'', %s)',
         string_agg(format('"%s":%%s', field), ',' order by place),
         string_agg(
           format('coalesce(sum(%I), %s)', field, case when atttypid = 'numeric'::regtype then '0.0000' else '0' end),
           ', ' order by place))
       from unnest(totals) with ordinality as total (field, place)
       join pg_attribute on attrelid = format('daily.%I', metric)::regclass and attname = field
     )
     from jsonb_to_recordset($1) as given (metric text, endpoint text, fields text[], totals text[])
     on conflict (metric) do update
     set endpoint = excluded.endpoint, fields = excluded.fields, totals = excluded.totals, listed = false
     where (row_schemas.fields, row_schemas.totals) <> (excluded.fields, excluded.totals)`,
    [JSON.stringify(schemas)],
  )
}
