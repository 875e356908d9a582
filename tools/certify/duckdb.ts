import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CopyReader } from './copy.ts'
import { environment } from './python-environment.ts'
import { readBySql } from './sql.ts'

/** Returns what reads tables of a DuckDB file, none when there is no such file. */
export const readDuckdb =
  (file: string, schema: string): CopyReader =>
  async (tables) => {
    if (!existsSync(file)) return new Map()
    const program = join(await environment('duckdb'), 'duckdb')
    const query = async (sql: string) => {
      const statements = `set timezone = 'UTC'; ${sql}`
      const { stdout } = await promisify(execFile)(program, ['-readonly', '-json', file, statements], {
        maxBuffer: Number.POSITIVE_INFINITY,
      })
      return JSON.parse(stdout)
    }
    return readBySql(query, { schema, tables, toJson: 'to_json' })
  }
