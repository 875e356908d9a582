import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { migrate } from '../../../drizzle/db/migrate.ts'
import { withClient } from '../../support/database.ts'
import { MAPPED } from '../../support/schema.ts'

test('the migrations hold everything that the tables and views say', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  try {
    await cp('drizzle/migrations', folder, { recursive: true })
    const before = await readdir(folder)
    const generate = [
      'generate',
      '--dialect',
      'postgresql',
      '--schema',
      './drizzle/{tables,source,views,daily}/*.ts',
    ]
    // drizzle-kit takes no absolute path, and reports its failures with exit code 0.
    const { stdout } = await promisify(execFile)('node_modules/.bin/drizzle-kit', [
      ...generate,
      '--out',
      relative('.', folder),
    ])
    expect(stdout).toContain('No schema changes')
    expect(await readdir(folder)).toEqual(before)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('migrating a current database changes nothing', async () => {
  await withClient(inject('databaseUrl'), async (client) => {
    const applied = `select * from ${MAPPED ? 'export_api.export_api_migrations' : 'drizzle.__drizzle_migrations'} order by id`
    const { rows: before } = await client.query(applied)
    await migrate(client)
    expect((await client.query(applied)).rows).toEqual(before)
    expect(before.length).toBe(
      (await readdir('drizzle/migrations')).filter((file) => file.endsWith('.sql')).length,
    )
  })
})
