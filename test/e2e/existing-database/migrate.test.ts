import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrateToLatest } from '../../../bundle/migrate-to-latest.ts'
import { UsageError } from '../../../drizzle/db/connect.ts'
import { type OwnDatabase, withClient } from '../../support/database.ts'
import { isolatedDatabase } from '../../support/isolated.ts'

let own: OwnDatabase
let db: pg.Pool

beforeEach(async () => {
  own = await isolatedDatabase(async () => undefined)
  db = new pg.Pool({ connectionString: own.url, max: 1 })
})

afterEach(async () => {
  await db.end()
  await own.drop()
})

const migrate = (schema?: string) => withClient(own.url, (client) => migrateToLatest(client, schema))

const tablesOf = async (schema: string): Promise<string[]> => {
  const { rows } = await db.query(
    'select tablename as name from pg_tables where schemaname = $1 order by 1',
    [schema],
  )
  return rows.map(({ name }) => name)
}

const REFUSAL = new UsageError(
  'The tables of another application are in the way of those that the migrations make: npm run migrate -- --schema export_api makes them beside those.',
)

test('tables of the same names are left as they are: migrate refuses, and makes its own in another schema', async () => {
  await db.query('create table users (login text); create table brands (title text)')
  await expect(migrate()).rejects.toEqual(REFUSAL)
  expect(await tablesOf('daily')).toEqual([])

  await migrate('export_api')
  expect(await tablesOf('public')).toEqual(['brands', 'users'])
  expect(await tablesOf('export_api')).toHaveLength(16)
  expect(await tablesOf('export_api')).toContain('api_keys')
  const { rows } = await db.query('select distinct base::text from daily.source_tables() order by 1')
  expect(rows.map(({ base }) => base.split('.')[0])).toEqual(Array.from({ length: 10 }, () => 'export_api'))
  expect((await db.query('select days from daily.rolling_window')).rows).toEqual([{ days: 7 }])

  // Where the tables are, it need not be told again.
  await db.query('delete from daily.rolling_window')
  await migrate()
  expect((await db.query('select * from daily.rolling_window')).rows).toEqual([])
})

test("another application's record of migrations with Drizzle is not taken for ours", async () => {
  await db.query(
    `create schema drizzle; create table drizzle.__drizzle_migrations (id serial, hash text, created_at bigint);
     insert into drizzle.__drizzle_migrations (hash, created_at) values ('theirs', 99999999999999)`,
  )
  await expect(migrate()).rejects.toEqual(REFUSAL)
  await migrate('export_api')
  expect((await db.query('select hash from drizzle.__drizzle_migrations')).rows).toEqual([{ hash: 'theirs' }])
})

test('a schema that is no plain name is refused', async () => {
  for (const name of ['Export', 'a b', 'x; drop schema public', '']) {
    await expect(migrate(name)).rejects.toThrow('cannot be the name of a schema')
  }
  const command = promisify(execFile)('node', ['cli/migrate.ts', '--schema', 'a b'], {
    env: { ...process.env, DATABASE_URL: own.url },
  })
  await expect(command).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('small letters') })
})
