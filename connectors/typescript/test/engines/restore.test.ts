import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { createKey, listKeys, readKeyLog, revokeKey } from '../../../../cli/keys/keys.ts'
import { rotateKey } from '../../../../cli/keys/rotate-key.ts'
import { call } from '../../../../test/fixtures/call.ts'
import { readCodeBlocks } from '../../../../test/fixtures/code-blocks.ts'
import { runCommand } from '../../../../test/fixtures/command.ts'
import { withClient } from '../../../../test/fixtures/database.ts'
import { startOwnService } from '../../../../test/fixtures/own-service.ts'
import { answer, refresh } from '../../../../test/fixtures/rows.ts'
import { answeredDays } from '../../../../test/fixtures/scene.ts'
import { prepare } from '../../../../test/fixtures/schema.ts'
import { startPostgres } from '../../../test-support/postgres.ts'
import { expectExact, exportApi } from '../copy-command.ts'

const run = promisify(execFile)
const folder = await mkdtemp(join(tmpdir(), 'restore-'))
// The server's user is another.
await chmod(folder, 0o755)
const server = await startPostgres(folder)
const url = `postgresql://postgres@localhost/service?host=${server.home}`
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

const program = (name: string, ...args: string[]) =>
  run(name, args, { env: { ...process.env, ...server.env }, cwd: folder })

/** Runs a code block of the page with psql. */
async function psql(block: string | undefined): Promise<void> {
  await writeFile(join(folder, 'block.sql'), block ?? '')
  await program('psql', '--set=ON_ERROR_STOP=1', '--dbname=service', '--file=block.sql')
}

/** Runs work with connections that end with it, since a restore breaks open ones. */
async function inDatabase<Result>(work: (db: pg.Pool) => Promise<Result>): Promise<Result> {
  const db = new pg.Pool({ connectionString: url })
  return work(db).finally(() => db.end())
}

/** The settings of the database and of its three roles. A dump has them only with --create. */
const settingsOf = (db: pg.Pool) =>
  db.query(`select setrole::regrole::text as role, setconfig from pg_db_role_setting
    where setdatabase = (select oid from pg_database where datname = current_database()) order by role`)

test('after the restore of docs/operations.md, the keys are as before, and a copy is exact again', async () => {
  await program('createdb', 'service')
  await withClient(url, prepare)
  const service = await startOwnService({ databaseUrl: url })
  const its = await inDatabase((db) => answeredDays(db, { first: '2026-10-01', days: 30 }))
  const say = (db: pg.Pool, day: string, ...mentions: string[]) =>
    answer(db, {
      ...its,
      at: `${day}T12:00:00Z`,
      mentions,
      citations: [{ url: `https://${mentions}.example/` }],
    })

  const copy = join(folder, 'parquet')
  const syncAndExpectExact = async () => {
    expect(await exportApi({ ...its, url: service.url }, 'sync', '--out', copy)).toMatchObject({ code: 0 })
    await inDatabase((db) => expectExact(expect, { db, copy, ...its }))
  }

  const now = new Date()
  const actor = { organizationId: its.org.id, userId: its.org.owner }
  const newKey = (db: pg.Pool, label: string) =>
    createKey(drizzle({ client: db }), actor, { label, brandIds: [its.brandId], expiresAt: null }, now)
  const keysAndLog = () =>
    inDatabase(async (client) => {
      const db = drizzle({ client })
      return { keys: await listKeys(db, actor, now), log: await readKeyLog(db, actor) }
    })
  const leaked = await inDatabase((db) => newKey(db, 'leaked'))
  const [saveKeys, returnKeys] = (await readCodeBlocks('operations.md'))('Restore', 'sql')

  await program('pg_dump', '--create', '--format=custom', '--file', join(folder, 'dump'), 'service')
  const settings = await inDatabase(async (db) => (await settingsOf(db)).rows)
  expect(settings).toHaveLength(4)
  // The lost hour: an edited day, a day that empties, a new day and a rename, which the copy has.
  await inDatabase(async (db) => {
    await say(db, '2026-10-05', 'Acme', 'Rival')
    await db.query(`delete from answers where prompt_id = $1 and answered_at = '2026-10-10T00:00:00Z'`, [
      its.prompt,
    ])
    await say(db, '2026-11-10', 'Acme')
    await db.query(`update competitors set name = 'Lost', aliases = '{Rival}' where brand_id = $1`, [
      its.brandId,
    ])
    await refresh(db)
  })
  const made = await inDatabase(async (client) => {
    const db = drizzle({ client })
    await revokeKey(db, actor, leaked.id, now)
    const kept = (await listKeys(db, actor, now)).find(({ state }) => state === 'active')
    await rotateKey(db, actor, { keyId: kept?.id ?? '', overlapMs: 86_400_000 }, now)
    return newKey(client, 'new')
  })
  const before = await keysAndLog()
  await syncAndExpectExact()

  await psql(saveKeys)
  await program('psql', '--command', 'drop database service with (force)')
  await program('pg_restore', '--create', '--dbname=postgres', join(folder, 'dump'))
  await psql(returnKeys)
  expect(await keysAndLog()).toEqual(before)
  expect((await call('/brands', { service: service.url, key: made.key })).status).toBe(200)
  // The application loads the lost hour again, and not as it was.
  await inDatabase(async (db) => {
    expect((await settingsOf(db)).rows).toEqual(settings)
    await say(db, '2026-10-05', 'Rival')
    await say(db, '2026-11-11', 'Acme')
  })
  for (const [name, ...args] of [['migrate', '--activate'], ['refresh', '--relist'], ['verify']] as const)
    expect(await runCommand(`${name}.ts`, args, { DATABASE_URL: url })).toMatchObject({ code: 0 })
  await syncAndExpectExact()
  await service.close()
})
