import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { migrate } from '../../../drizzle/db/migrate.ts'
import config from '../../../drizzle.config.ts'
import { withClient } from '../../support/database.ts'
import { isolatedPool } from '../../support/isolated.ts'

test('the migrations contain everything in the Drizzle schema', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  try {
    await cp('drizzle/migrations', folder, { recursive: true })
    const before = await readdir(folder)
    const schema = [config.schema ?? []].flat().flatMap((path) => ['--schema', path])
    // drizzle-kit takes no absolute path, and exits with 0 when it fails.
    const out = ['--out', relative('.', folder)]
    const { stdout } = await promisify(execFile)('node_modules/.bin/drizzle-kit', [
      ...['generate', '--dialect', 'postgresql'],
      ...schema,
      ...out,
    ])
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
    await migrate(client)
    expect(await read()).toEqual(before)
  })
})

test('a changed file is applied again, and brings the triggers of every table to the current text', async () => {
  const { db, url } = await isolatedPool()
  const source = `select prosrc from pg_proc where proname = 'enqueue_answers_insert'`
  const { rows: current } = await db.query(source)
  await db.query(`
    select daily.create_trigger_function('enqueue_answers_insert', 'public', 'begin return null; end');
    create or replace function daily.expand() returns boolean language sql as 'select false';
    update daily.applied_sql set sha256 = 'of another text' where name = 'sql/triggers.sql'`)
  await withClient(url, migrate)
  expect((await db.query(source)).rows).toEqual(current)
  const { rows } = await db.query(`select prosrc from pg_proc where proname = 'expand'`)
  expect(rows[0].prosrc).toContain('model_id')
  expect((await db.query('select * from daily.refresh_queue')).rows).toEqual([])
})
