import { beforeEach, expect, test } from 'vitest'
import { migrateToLatest } from '../../../cli/workers/migrate-to-latest.ts'
import { UsageError } from '../../../drizzle/db/connect.ts'
import { runCommand } from '../../fixtures/command.ts'
import { withClient } from '../../fixtures/database.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'

const { db, url } = await isolatedPool(async () => undefined)

beforeEach(() =>
  db.query(`
    drop schema if exists public, daily, metrics, export_source, statements, export_api, drizzle cascade;
    create schema public`),
)

const migrate = (schema?: string) => withClient(url, (client) => migrateToLatest(client, schema))

async function tablesOf(schema: string): Promise<string[]> {
  const { rows } = await db.query('select tablename from pg_tables where schemaname = $1 order by 1', [
    schema,
  ])
  return rows.map(({ tablename }) => tablename)
}

test('tables of the same names are left as they are: migrate refuses, and uses another schema on request', async () => {
  await db.query('create table users (login text); create table brands (title text)')
  await expect(migrate()).rejects.toEqual(
    new UsageError(
      'The schema `public` has tables of another application with the same names. Run `npm run migrate -- --schema export_api` to use another schema.',
    ),
  )
  expect(await tablesOf('daily')).toEqual([])

  await migrate('export_api')
  expect(await tablesOf('public')).toEqual(['brands', 'users'])
  expect(await tablesOf('export_api')).toHaveLength(15)
  expect(await tablesOf('export_api')).toContain('api_keys')
  const { rows } = await db.query('select distinct base::text from daily.source_tables()')
  expect(rows.map(({ base }) => base.split('.')[0])).toEqual(Array.from({ length: 10 }, () => 'export_api'))
  expect((await db.query('select days from daily.rolling_window')).rows).toEqual([{ days: 7 }])

  // The second time the schema is known.
  await db.query(
    `delete from daily.rolling_window; update daily.applied_sql set sha256 = '' where name like 'sql/%'`,
  )
  await migrate()
  expect(await tablesOf('public')).toEqual(['brands', 'users'])
  expect((await db.query('select * from daily.rolling_window')).rows).toEqual([])
})

test("an application's own record of Drizzle migrations stays as it is", async () => {
  await db.query(
    `create schema drizzle; create table drizzle.__drizzle_migrations (id serial, hash text, created_at bigint);
     insert into drizzle.__drizzle_migrations (hash, created_at) values ('theirs', 99999999999999)`,
  )
  await migrate()
  expect(await tablesOf('public')).toHaveLength(15)
  expect((await db.query('select hash from drizzle.__drizzle_migrations')).rows).toEqual([{ hash: 'theirs' }])
})

test('the name of a schema must need no quotes', async () => {
  for (const name of ['Export', 'a b', 'x; drop schema public', '']) {
    await expect(migrate(name)).rejects.toThrow('cannot be the name of a schema')
  }
  expect(await runCommand('migrate.ts', ['--schema', 'a b'], { DATABASE_URL: url })).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('--schema'),
  })
})
