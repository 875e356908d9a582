import pg from 'pg'
import { plain } from './compare.ts'
import { type Copy, isLive } from './copy.ts'
import type { Row } from './service.ts'

type Query = (sql: string) => Promise<readonly Row[]>

const { escapeLiteral, escapeIdentifier } = pg

/** Reads tables or views of a schema by SQL. `toJson` is the database's function that makes a row JSON. */
export async function readBySql(
  query: Query,
  {
    schema,
    tables,
    toJson,
  }: { readonly schema: string; readonly tables: readonly string[]; readonly toJson: string },
): Promise<Copy> {
  const columns = await query(
    `select table_name, column_name, data_type from information_schema.columns
     where table_schema = ${escapeLiteral(schema)} and table_name in (${tables.map(escapeLiteral)})`,
  )
  const found = Map.groupBy(columns, ({ table_name }) => String(table_name))
  const selections = [...found.keys()].map(
    (name) =>
      `select ${escapeLiteral(name)} as name, ${toJson}(t) as row from ${escapeIdentifier(schema)}.${escapeIdentifier(name)} as t`,
  )
  const rows = found.size === 0 ? [] : await query(selections.join(' union all '))
  const rowsOf = Map.groupBy(rows, ({ name }) => name)
  return new Map(
    [...found].map(([table, own]) => [
      table,
      {
        rows: (rowsOf.get(table) ?? []).map(({ row }): Row => Object(row)).filter(isLive),
        columns: new Map(
          own.map(({ column_name, data_type }) => {
            const name = String(column_name)
            return [plain(name), { name, type: String(data_type) }]
          }),
        ),
      },
    ]),
  )
}
