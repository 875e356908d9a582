import type { ClientBase } from 'pg'

/**
 * Lists every day of each metric whose row schema is new or has changed, one brand per transaction. The share writes its
 * objects again, since a digest does not tell the names of columns.
 */
export async function relistChangedSchemas(client: ClientBase): Promise<void> {
  const { rows: schemas } = await client.query<{ metric: string }>(
    'select metric from daily.row_schemas where not listed',
  )
  for (const { metric } of schemas) {
    await client.query('select daily.rewrite_table($1)', [metric])
    const { rows: brands } = await client.query<{ id: string }>(
      `select distinct brand_id as id
       from daily.changes join daily.row_schemas using (endpoint) where metric = $1`,
      [metric],
    )
    for (const { id } of brands) await client.query('select daily.relist($1, $2)', [metric, id])
    await client.query('update daily.row_schemas set listed = true where metric = $1', [metric])
  }
}

/**
 * Lists every day of every brand and metric as changed, one brand per transaction (docs/operations.md, List every day
 * again). Calls `onBrand` with the number of brands after each, and returns it.
 */
export async function relistAll(
  client: ClientBase,
  onBrand: (total: number) => void = () => {},
): Promise<number> {
  await client.query('select daily.restart_share()')
  const { rows: brands } = await client.query<{ id: string; first: string }>(`
    with known as (
      select id from export_source.brands
      union
      select brand_id from daily.changes
    )
    select id, (least(first, (now() at time zone 'UTC')::date) - 365)::text as first
    from known
    left join (
      select brand_id, min(date) as first from daily.changes where rows > 0 and date >= '2000-01-01' group by brand_id
    ) as listed on brand_id = id
    order by id`)
  for (const { id, first } of brands) {
    await client.query('select daily.relist(metric, $1, $2) from daily.row_schemas', [id, first])
    onBrand(brands.length)
  }
  return brands.length
}
