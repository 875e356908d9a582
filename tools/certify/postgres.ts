import { withClient } from '../../drizzle/db/connect.ts'
import type { CopyReader } from './copy.ts'
import { readBySql } from './sql.ts'

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
