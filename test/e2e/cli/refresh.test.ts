import { execFile } from 'node:child_process'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OwnDatabase } from '../../support/database.ts'
import { isolatedDatabase } from '../../support/isolated.ts'
import { tableOf } from '../../support/schema.ts'
import { answer, brand, organization, place, prompt } from '../../support/world.ts'

let own: OwnDatabase
let db: pg.Pool
let brandId: string

beforeAll(async () => {
  own = await isolatedDatabase()
  db = new pg.Pool({ connectionString: own.url, max: 2 })
  brandId = await brand(db, await organization(db))
  const asked = await prompt(db, brandId)
  const here = await place(db)
  for (const day of ['01', '02']) await answer(db, { ...here, prompt: asked, at: `2026-10-${day}T09:00:00Z` })
})

afterAll(async () => {
  await db.end()
  await own.drop()
})

function run(command: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const environment = { ...process.env, DATABASE_URL: own.url }
  return new Promise((resolve) => {
    execFile('node', [`cli/${command}.ts`, ...args], { env: environment }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    )
  })
}

test('refresh computes what changed and ends, verify then finds every row equal', async () => {
  expect(await run('verify')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('waits for the refresh'),
  })
  expect((await run('refresh')).stdout).toMatch(/^Up to date: \d+ changes computed\.\n$/)
  expect((await run('refresh')).stdout).toBe('Everything is up to date.\n')
  expect(await run('verify')).toMatchObject({
    code: 0,
    stdout: 'Every other stored row equals its definition.\n',
  })
  expect((await db.query('select date::text from daily.visibility order by date')).rows).toHaveLength(2)
}, 60_000)

test('verify names a row that was changed by hand, refresh --all mends it', async () => {
  await db.query(`update daily.visibility set total_prompts = 7 where date = '2026-10-02'`)
  const found = await run('verify', '--brand', brandId, '--from', '2026-10-02')
  expect(found.code).toBe(1)
  expect(found.stdout).toContain('visibility wrong')
  expect(found.stdout).toContain('"total_prompts":7')
  expect(found.stderr).toContain('2 rows differ')
  expect((await run('verify', '--to', '2026-10-01')).code).toBe(0)
  expect((await run('refresh', '--all')).code).toBe(0)
  expect((await run('verify')).code).toBe(0)
}, 60_000)

test('a load whose session has its triggers off is noted as well', async () => {
  const client = await db.connect()
  await client.query('set session_replication_role = replica')
  await client.query(`update answers set error = 'withdrawn' where answered_at < '2026-10-02'`)
  await client.query('reset session_replication_role')
  client.release()
  expect((await run('refresh')).code).toBe(0)
  expect((await db.query('select date::text from daily.visibility')).rows).toEqual([{ date: '2026-10-02' }])
}, 60_000)

test('a load is looked at by the planner before days are computed from it', async () => {
  const client = await db.connect()
  const { rows } = await client.query('select id from answers')
  await client.query(
    `insert into citations (answer_id, url, owned, recorded_at)
     select $1, 'https://a.example/' || n, false, timestamptz '2026-10-02' from generate_series(1, 100) as n`,
    [rows[0]?.id],
  )
  await client.query('select pg_stat_force_next_flush()')
  client.release()
  expect((await run('refresh')).code).toBe(0)
  const [table] = tableOf('citations').split('.').toReversed()
  const known = await db.query('select from pg_stats where tablename = $1', [table])
  expect(known.rowCount).toBeGreaterThan(0)
}, 60_000)

test('mistakes are a sentence and exit code 1', async () => {
  expect(await run('verify', '--from', 'yesterday')).toMatchObject({ code: 1, stdout: '' })
  expect(await run('refresh', '--everything')).toMatchObject({ code: 1, stdout: '' })
}, 60_000)
