import type { Client } from 'pg'

/** Inserts rows, whose fields are columns of the table. All rows have the same fields. */
export async function insertRows(
  client: Client,
  table: string,
  rows: readonly Readonly<Record<string, unknown>>[],
  onConflict = '',
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).join(', ')
  await client.query(
    `insert into ${table} (${columns})
     select ${columns} from jsonb_populate_recordset(null::${table}, $1) ${onConflict}`,
    [JSON.stringify(rows)],
  )
}
