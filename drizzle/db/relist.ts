import type { ClientBase } from 'pg'

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
