import type { Client } from 'pg'

/** What happens to rows whose key exists: an error by default. */
type OnConflict = 'overwrite' | 'keep'

/** Inserts rows, whose fields are columns of the table. All rows have the same fields. */
export async function insertRows(
  client: Client,
  table: string,
  rows: readonly Readonly<Record<string, unknown>>[],
  onConflict?: OnConflict,
): Promise<void> {
  const names = Object.keys(rows[0] ?? {})
  const columns = names.join(', ')
  const conflict = {
    overwrite: `on conflict (id) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    keep: 'on conflict do nothing',
  }
  await client.query(
    `insert into ${table} (${columns})
     select ${columns} from jsonb_populate_recordset(null::${table}, $1)
     ${onConflict === undefined ? '' : conflict[onConflict]}`,
    [JSON.stringify(rows)],
  )
}
