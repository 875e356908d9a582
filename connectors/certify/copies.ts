import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { UsageError, withClient } from '../../drizzle/db/connect.ts'
import { environment } from '../python-environment.ts'
import { type CopiedTable, type Copy, type CopyReader, plain } from './compare.ts'
import type { Row } from './service.ts'

export type Where = { readonly copy: string; readonly schema?: string | undefined; readonly folder: string }

/** Returns what reads the copy at `duckdb:FILE`, `postgres://…` or `jsonl:FOLDER`. */
export function copyReader({ copy, schema, folder }: Where): CopyReader {
  const { kind, path } = parseCopy(copy)
  if (kind === 'duckdb') return readDuckdb(resolve(folder, path), schema ?? 'main')
  if (kind === 'jsonl') return readJsonLines(resolve(folder, path))
  return readPostgres(copy, schema ?? 'public')
}

/** Parses where a copy is. Throws `UsageError` for other places than those of `copyReader`. */
export function parseCopy(copy: string): { kind: string; path: string } {
  const [, kind, path = ''] = /^(duckdb|jsonl|postgres(?:ql)?):(.+)$/.exec(copy) ?? []
  if (kind !== undefined) return { kind, path }
  throw new UsageError(
    '--copy must be duckdb:FILE, postgres://user:password@host:5432/database or jsonl:FOLDER.',
  )
}

/** Returns what reads `<table>.jsonl` of a folder, a row each line. */
const readJsonLines =
  (folder: string): CopyReader =>
  async (tables) => {
    const found: [string, CopiedTable][] = []
    for (const table of tables) {
      const text = await readFile(join(folder, `${table}.jsonl`), 'utf8').catch(() => undefined)
      if (text === undefined) continue
      const lines = text.split('\n').filter((line) => line.trim() !== '')
      const rows = lines.map((line): Row => JSON.parse(line))
      // The last value that is not null stands for its column.
      const values = new Map<string, unknown>()
      for (const row of rows)
        for (const [name, value] of Object.entries(row)) values.set(name, value ?? values.get(name))
      const columns = [...values].map(([name, value]) => {
        const type = value === undefined ? undefined : `json ${typeof value}`
        return [plain(name), { name, type }] as const
      })
      found.push([table, { rows, columns: new Map(columns) }])
    }
    return new Map(found)
  }

const { escapeLiteral, escapeIdentifier } = pg

/** Returns what reads tables of a PostgreSQL database. Throws `UsageError` when the server cannot be reached. */
const readPostgres =
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
const readDuckdb =
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
        rows: (rowsOf.get(table) ?? []).map(({ row }): Row => Object(row)),
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
