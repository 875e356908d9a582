import { plain } from './compare.ts'
import type { Copy } from './copies.ts'
import type { Row } from './service.ts'

type Query = (sql: string) => Promise<readonly Row[]>

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
const identifier = (text: string): string => `"${text.replaceAll('"', '""')}"`

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
     where table_schema = ${literal(schema)} and table_name in (${tables.map(literal)})`,
  )
  const found = [...new Set(columns.map(({ table_name }) => String(table_name)))]
  const selections = found.map(
    (name) =>
      `select ${literal(name)} as name, ${toJson}(t) as row from ${identifier(schema)}.${identifier(name)} as t`,
  )
  const rows = found.length === 0 ? [] : await query(selections.join(' union all '))
  return new Map(
    found.map((table) => {
      const own = columns.filter(({ table_name }) => table_name === table)
      return [
        table,
        {
          rows: rows
            .filter(({ name }) => name === table)
            .map(({ row }): Row => Object(row))
            .filter(isLive),
          names: new Map(own.map(({ column_name }) => [plain(String(column_name)), String(column_name)])),
          types: new Map(
            own.map(({ column_name, data_type }) => [plain(String(column_name)), String(data_type)]),
          ),
        },
      ]
    }),
  )
}

/** Singer's loaders stamp the rows that are deleted. */
export const isLive = (row: Row): boolean => (row._sdc_deleted_at ?? null) === null
