import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { migrateToLatest } from '../../../cli/workers/migrate-to-latest.ts'
import { UsageError } from '../../../drizzle/db/connect.ts'
import { migrate } from '../../../drizzle/db/migrate.ts'
import { withClient } from '../../fixtures/database.ts'

test('the migrations contain everything in the Drizzle schema', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  try {
    await cp('drizzle/migrations', folder, { recursive: true })
    const before = await readdir(folder)
    // drizzle-kit takes no absolute path, and exits with 0 when it fails.
    const schema = '--dialect postgresql --schema ./drizzle/{tables,source,metrics}/*.ts'.split(' ')
    const args = ['generate', ...schema, '--out', relative('.', folder)]
    const { stdout } = await promisify(execFile)('node_modules/.bin/drizzle-kit', args)
    expect(stdout).toContain('No schema changes')
    expect(await readdir(folder)).toEqual(before)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('every file is applied, and a current database is left as it is', async () => {
  await withClient(inject('databaseUrl'), async (client) => {
    const read = async () => (await client.query('select * from daily.applied_sql order by name')).rows
    const before = await read()
    const files = await Promise.all(
      ['migrations', 'sql'].map(async (folder) =>
        (await readdir(`drizzle/${folder}`))
          .filter((name) => name.endsWith('.sql'))
          .map((name) => `${folder}/${name}`),
      ),
    )
    expect(before.map(({ name }) => name).sort()).toEqual(files.flat().sort())
    await migrateToLatest(client)
    expect(await read()).toEqual(before)
  })
})

test('an old Postgres is reported before the first statement that it does not know', async () => {
  const client = Object.assign(new pg.Client(), {
    query: async () => ({ rows: [{ server_version: '14.19 (Debian 14.19-1)' }] }),
  })
  await expect(migrate(client, { rowSchemas: [] })).rejects.toThrow(
    'The database is PostgreSQL 14.19 (Debian 14.19-1). Use PostgreSQL 15 or later.',
  )
})

test.runIf(inject('realPostgres')).for(['LATIN1', 'SQL_ASCII'])(
  'a database with the encoding %s is reported, and stays as it is',
  async (encoding) => {
    const url = new URL(inject('databaseUrl'))
    const database = `export_api_test_${randomBytes(6).toString('hex')}`
    const onServer = (sql: string) => withClient(url.href, (client) => client.query(sql))
    const own = Object.assign(new URL(url), { pathname: `/${database}` })
    await onServer(
      `create database ${database} template template0 encoding '${encoding}' lc_collate 'C' lc_ctype 'C'`,
    )
    onTestFinished(async () => void (await onServer(`drop database ${database}`)))
    await withClient(own.href, async (client) => {
      await expect(migrateToLatest(client)).rejects.toEqual(
        new UsageError(
          `The database has the encoding ${encoding}. Use one that has UTF8, as after create database … template template0 encoding 'UTF8'.`,
        ),
      )
      expect((await client.query(`select from pg_namespace where nspname = 'daily'`)).rowCount).toBe(0)
    })
  },
)
