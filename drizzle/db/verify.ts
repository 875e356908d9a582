import type { ClientBase } from 'pg'

/** What to compare: one brand or all, between two days (inclusive, `YYYY-MM-DD`) or all days. */
export type Extent = {
  readonly brandId?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** A row that only the view has (`missing`), or only the daily table (`wrong`). */
export type Difference = {
  readonly metric: string
  readonly kind: 'missing' | 'wrong'
  /** Whether its day is in the queue, so the next refresh computes it. */
  readonly waiting: boolean
  readonly row: Readonly<Record<string, unknown>>
}

/** Compares the daily tables with the views, one metric and brand at a time, each in one snapshot. */
export async function* verify(client: ClientBase, extent: Extent): AsyncGenerator<Difference> {
  for (const metric of await metricsOf(client)) {
    const stored = `daily.${client.escapeIdentifier(metric)}`
    const view = `metrics.${client.escapeIdentifier(metric)}`
    const columns = await columnsOf(client, stored)
    const { rows: brands } = await client.query<{ id: string }>(
      `select id from (select id from export_source.brands union select brand_id from ${stored}) as known
       where id = $1 or $1::uuid is null order by id`,
      [extent.brandId],
    )
    for (const { id } of brands) {
      const condition = `where brand_id = $1 and date between coalesce($2::date, '-infinity') and coalesce($3::date, 'infinity')`
      const { rows } = await client.query<Difference>(
        `with fresh as materialized (select ${columns} from ${view} ${condition}),
         stored as materialized (select ${columns} from ${stored} ${condition}),
         differing as (
           select 'missing' as kind, * from (select * from fresh except select * from stored) as missing
           union all
           select 'wrong', * from (select * from stored except select * from fresh) as wrong)
         select $4 as metric, kind, to_jsonb(differing) - 'kind' as row, exists (
           select from daily.waiting
           where metric = $4 and (brand_id = $1 or brand_id is null) and (waiting.date = differing.date or waiting.date is null)
         ) as waiting
         from differing order by date, kind`,
        [id, extent.from, extent.to, metric],
      )
      yield* rows
    }
  }
}

/** Returns the names of all metrics, which are the names of their views and daily tables. */
export async function metricsOf(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ metric: string }>(
    'select distinct metric from daily.sources order by metric',
  )
  return rows.map(({ metric }) => metric)
}

async function columnsOf(client: ClientBase, stored: string): Promise<string> {
  const { rows } = await client.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as columns
     from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [stored],
  )
  return rows[0]?.columns ?? ''
}
