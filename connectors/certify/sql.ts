import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { withClient } from '../../drizzle/db/connect.ts'
import { type Copy, type CopyReader, isLive, plain } from './copy.ts'
import { environment } from './python-environment.ts'
import type { Row } from './service.ts'

const { escapeLiteral, escapeIdentifier } = pg

/** Returns what reads tables of a PostgreSQL database. Throws `UsageError` when the server cannot be reached. */
export const readPostgres =
  (url: string, schema: string): CopyReader =>
  (tables) =>
    withClient(
      url,
      async (client) => {
        await client.query(`set time zone 'UTC'`)
        const query = async (sql: string) => (await client.query(sql)).rows
        return readBySql(query, { schema, tables, toJson: 'to_jsonb' })
      },
      '--copy',
    )

/** Returns what reads tables of a DuckDB file, none when there is no such file. */
export const readDuckdb =
  (file: string, schema: string): CopyReader =>
  async (tables) => {
    if (!existsSync(file)) return new Map()
    const program = join(await environment('duckdb'), 'duckdb')
    const query = async (sql: string) => {
      const args = ['-readonly', '-json', file, `set timezone = 'UTC'; ${sql}`]
      const { stdout } = await promisify(execFile)(program, args, { maxBuffer: Number.POSITIVE_INFINITY })
      return JSON.parse(stdout)
    }
    return readBySql(query, { schema, tables, toJson: 'to_json' })
  }

type Selection = { readonly schema: string; readonly tables: readonly string[]; readonly toJson: string }

/** Reads tables or views of a schema by SQL. `toJson` is the database's function that makes a row JSON. */
async function readBySql(
  query: (sql: string) => Promise<readonly Row[]>,
  { schema, tables, toJson }: Selection,
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
