import { randomBytes } from 'node:crypto'
import { NeonDbError, neon as neonClient, neonConfig } from '@neondatabase/serverless'
import { afterAll, describe, expect, inject, it, test, vi } from 'vitest'
import { imitateNeon } from '../../../emulator/neon/imitation.ts'
import { withClient } from '../../fixtures/database.ts'

const databaseUrl = inject('databaseUrl')
const database = new URL(databaseUrl).pathname
const user = `emulator_${randomBytes(6).toString('hex')}`
const connectionString = `postgresql://${user}:local@ep-local.neon.test${database}`

const start = (url: string) => imitateNeon(url, [connectionString])

await withClient(databaseUrl, async (client) => {
  await client.query(`create role ${user} superuser`)
  await client.query('drop table if exists emulator_notes')
  await client.query('create table emulator_notes (id int constraint emulator_notes_pk primary key)')
})
const { handle, close } = start(databaseUrl)
afterAll(async () => {
  await close()
  await withClient(databaseUrl, (client) => client.query(`drop table emulator_notes; drop role ${user}`))
})

neonConfig.fetchFunction = (url: string, init: RequestInit) => handle(new Request(url, init))
const sql = neonClient(connectionString, { fullResults: true, arrayMode: true })
const asText = { types: { getTypeParser: () => (text: string) => text } }

/** The error of a query that fails. */
async function failure(query: Promise<unknown>): Promise<NeonDbError> {
  const outcome = await query.catch((error: unknown) => error)
  if (outcome instanceof NeonDbError) return outcome
  throw new Error('The query did not fail with a NeonDbError')
}

/** A request without Neon's client. */
const post = (body: string, header = connectionString) =>
  new Request('https://api.neon.test/sql', {
    method: 'POST',
    body,
    headers: { 'Neon-Connection-String': header, 'Neon-Raw-Text-Output': 'true', 'Neon-Array-Mode': 'true' },
  })

test('cells are the text that Postgres writes', async () => {
  const cells = {
    "'2026-01-02'::date": '2026-01-02',
    "'2026-01-02 03:04:05.6+00'::timestamptz": '2026-01-02 03:04:05.6+00',
    '12345678901234567890.50::numeric': '12345678901234567890.50',
    '7::int8': '7',
    '0.1::float8': '0.1',
    true: 't',
    '\'{"a": 1}\'::jsonb': '{"a": 1}',
    '\'{x,"y z"}\'::text[]': '{x,"y z"}',
    "'\\x00ff'::bytea": '\\x00ff',
    'null::text': null,
  }
  const { rows, fields } = await sql.query(`select ${Object.keys(cells).join(', ')}`, [], asText)
  expect(rows).toEqual([Object.values(cells)])
  expect(fields.at(-1)).toMatchObject({ name: 'text', dataTypeID: 25, format: 'text' })
})

test.for([
  ['a constraint', 'insert into emulator_notes values (200), (200)', [], { code: '23505' }],
  ['a syntax error', 'select !', [], { code: '42601' }],
  ['a NUL in a parameter', 'select $1::text', ['a\0b'], { code: '22021' }],
  ['two statements in one', 'select 1; select 2', [], { code: '42601' }],
] as const)('%s fails with the code of Postgres', async ([, query, params, fields]) => {
  expect(await failure(sql.query(query, [...params]))).toMatchObject(fields)
})

test('rows after 10 MiB are a 507, and one row of any size is not', async () => {
  const rows = (...mebibytes: number[]) =>
    sql.query("select repeat('x', each * 1024 * 1024) from unnest($1::int[]) as each", [mebibytes])
  expect((await failure(rows(11, 1))).message).toContain('HTTP status 507')
  expect((await rows(9, 11)).rows.map(([text]) => text?.length)).toEqual([9_437_184, 11_534_336])
})

test.for(['', 'select 1', '[]', '{"query": 1}'])('the body %j is a 400', async (body) => {
  const response = await handle(post(body))
  expect([response.status, await response.json()]).toMatchObject([400, { code: '' }])
})

test.for([
  ['local', 'other', `password authentication failed for user '${user}'`, ''],
  [user, 'unknown', "password authentication failed for user 'unknown'", ''],
  [database, '/none', 'database "none" does not exist', '3D000'],
] as const)('a connection string with another %s is a 400', async ([part, other, message, code]) => {
  const response = await handle(post('{"query": "select 1"}', connectionString.replace(part, other)))
  expect([response.status, await response.json()]).toMatchObject([400, { message, code }])
})

describe.runIf(inject('realPostgres'))('a connection', () => {
  it('is reset after each query', async () => {
    await sql`select set_config('work_mem', '99MB', false), pg_advisory_lock(77)`
    await sql`create temp table emulator_temporary ()`
    await sql`begin`
    // So many at once that each pooled connection serves one.
    const state = () => sql`
      select current_user, current_setting('work_mem') <> '99MB', to_regclass('emulator_temporary'), pg_sleep(0.1)::text,
        (select count(*)::int from pg_locks where locktype = 'advisory' and objid = 77)`
    for (const { rows } of await Promise.all(Array.from({ length: 20 }, state))) {
      expect(rows).toEqual([[user, true, null, '', 0]])
    }
  })

  it('loses its query when the caller leaves', async () => {
    const leave = new AbortController()
    const query = 'select pg_sleep(60) as abandoned'
    const asked = failure(sql.query(query, [], { fetchOptions: { signal: leave.signal } }))
    const isRunning = async () =>
      (await sql`select from pg_stat_activity where query = ${query} and state = 'active'`).rowCount
    await expect.poll(isRunning).toBe(1)
    leave.abort()
    await asked
    await expect.poll(isRunning).toBe(0)
  })
})

test('a Postgres that refuses connections is a 500 in the end', async () => {
  const warn = vi.spyOn(process, 'emitWarning')
  const neon = start('postgresql://postgres@127.0.0.1:1/postgres?sslmode=require')
  const response = await neon.handle(post('{"query": "select 1"}'))
  expect([response.status, await response.json()]).toMatchObject([
    500,
    { message: "Couldn't connect to compute node" },
  ])
  expect(warn).not.toHaveBeenCalled()
  await neon.close()
})
