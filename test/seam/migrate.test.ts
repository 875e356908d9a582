import { execFile } from 'node:child_process'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { OwnDatabase } from '../support/database.ts'
import { isolatedDatabase } from '../support/isolated.ts'

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

function migrate(...args: string[]): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      'node',
      ['cli/migrate.ts', ...args],
      { env: { ...process.env, DATABASE_URL: own.url } },
      (error, _, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stderr }),
    )
  })
}

const tablesOf = async (schema: string): Promise<string[]> => {
  const { rows } = await db.query(
    'select tablename as name from pg_tables where schemaname = $1 order by 1',
    [schema],
  )
  return rows.map(({ name }) => name)
}

const REFUSAL =
  'The tables of another application are in the way of those that the migrations make: npm run migrate -- --schema export_api makes them beside those.\n'

test('tables of the same names are left as they are: migrate refuses, and makes its own in another schema', async () => {
  await db.query('create table users (login text); create table brands (title text)')
  expect(await migrate()).toEqual({ code: 1, stderr: REFUSAL })
  expect(await tablesOf('daily')).toEqual([])

  expect(await migrate('--schema', 'export_api')).toMatchObject({ code: 0 })
  expect(await tablesOf('public')).toEqual(['brands', 'users'])
  expect(await tablesOf('export_api')).toHaveLength(16)
  expect(await tablesOf('export_api')).toContain('api_keys')
  const { rows } = await db.query('select distinct base::text from daily.source_tables() order by 1')
  expect(rows.map(({ base }) => base.split('.')[0])).toEqual(Array.from({ length: 10 }, () => 'export_api'))
  expect((await db.query('select days from daily.trailing')).rows).toEqual([{ days: 7 }])

  // Where the tables are, it need not be told again.
  await db.query('delete from daily.trailing')
  expect(await migrate()).toMatchObject({ code: 0 })
  expect((await db.query('select * from daily.trailing')).rows).toEqual([])
}, 60_000)

test("another application's record of migrations with Drizzle is not taken for ours", async () => {
  await db.query(
    `create schema drizzle; create table drizzle.__drizzle_migrations (id serial, hash text, created_at bigint);
     insert into drizzle.__drizzle_migrations (hash, created_at) values ('theirs', 99999999999999)`,
  )
  expect(await migrate()).toEqual({ code: 1, stderr: REFUSAL })
  expect(await migrate('--schema', 'export_api')).toMatchObject({ code: 0 })
  expect((await db.query('select hash from drizzle.__drizzle_migrations')).rows).toEqual([{ hash: 'theirs' }])
}, 60_000)

test('a schema that is no plain name is refused', async () => {
  for (const name of ['Export', 'x; drop schema public']) {
    expect(await migrate('--schema', name)).toMatchObject({ code: 1 })
  }
}, 60_000)
