import { once } from 'node:events'
import { createServer } from 'node:net'
import { NeonDbError, neon as neonClient, neonConfig } from '@neondatabase/serverless'
import { afterAll, beforeAll, describe, expect, inject, it, test } from 'vitest'
import { neon } from '../../../emulator/neon/handler.ts'
import { openPools } from '../../../emulator/neon/pools.ts'
import { withClient } from '../../support/database.ts'

const databaseUrl = inject('databaseUrl')
const pools = openPools(databaseUrl, { roles: false })
const handler = neon(pools)
neonConfig.fetchFunction = (url: string, init: RequestInit) => handler(new Request(url, init))

const sql = neonClient('postgresql://export:export@ep-local.neon.test/export', {
  fullResults: true,
  arrayMode: true,
})
const asText = { types: { getTypeParser: () => (text: string) => text } }

/** The error of a query that fails. */
async function failure(query: Promise<unknown>): Promise<NeonDbError> {
  const outcome = await query.catch((error: unknown) => error)
  if (outcome instanceof NeonDbError) return outcome
  throw new Error('The query did not fail with a NeonDbError')
}

/** Sends a body without Neon's client. */
const post = (body: string, headers: Record<string, string> = {}) =>
  new Request('https://api.neon.test/sql', {
    method: 'POST',
    body,
    headers: { 'Neon-Connection-String': 'postgresql://x', ...headers },
  })

/** The response to `select 1` from the database at an address. */
async function selectFrom(url: string): Promise<Response> {
  const own = openPools(url, { roles: false })
  const response = await neon(own)(post('{"query":"select 1"}'))
  await own.end()
  return response
}

beforeAll(() =>
  withClient(databaseUrl, async (client) => {
    await client.query('drop table if exists emulator_notes')
    await client.query('create table emulator_notes (id int constraint emulator_notes_pk primary key)')
  }),
)

afterAll(async () => {
  await withClient(databaseUrl, (client) => client.query('drop table emulator_notes'))
  await pools.end()
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

test('parameters of every type arrive', async () => {
  const { rows } = await sql.query(
    'select $1::int + 1, $2::date, $3::jsonb, $4::text[], $5::bool, $6::text',
    [41, '2026-02-03', { a: [1] }, ['x', 'y z'], true, null],
  )
  expect(rows).toEqual([[42, expect.any(Date), { a: [1] }, ['x', 'y z'], true, null]])
})

test('a command returns its name and row count', async () => {
  const result = await sql.query('insert into emulator_notes values (101), (102)')
  expect(result).toMatchObject({ command: 'INSERT', rowCount: 2, rows: [] })
})

test.for([
  [
    'a constraint',
    'insert into emulator_notes values (200), (200)',
    [],
    {
      code: '23505',
      severity: 'ERROR',
      table: 'emulator_notes',
      constraint: 'emulator_notes_pk',
      detail: 'Key (id)=(200) already exists.',
    },
  ],
  ['a syntax error', 'select !', [], { code: '42601', position: '9' }],
  ['a NUL in a parameter', 'select $1::text', ['a\0b'], { code: '22021' }],
  ['two statements in one', 'select 1; select 2', [], { code: '42601' }],
] as const)('%s fails with the fields of Postgres', async ([, query, params, fields]) => {
  expect(await failure(sql.query(query, [...params]))).toMatchObject(fields)
})

describe('a batch', () => {
  const ids = async (first: number) =>
    (await sql.query('select id from emulator_notes where id between $1 and $1 + 9', [first])).rows

  it('is committed as a whole', async () => {
    const results = await sql.transaction([
      sql`insert into emulator_notes values (300)`,
      sql`select id from emulator_notes where id = 300`,
    ])
    expect(results[1]?.rows).toEqual([[300]])
    expect(await ids(300)).toEqual([[300]])
  })

  it('is rolled back when a query fails', async () => {
    const batch = sql.transaction([sql`insert into emulator_notes values (310)`, sql`select 1 / 0`])
    expect(await failure(batch)).toMatchObject({ code: '22012' })
    expect(await ids(310)).toEqual([])
  })

  it('is rolled back when its commit fails', async () => {
    const batch = sql.transaction([
      sql`create table emulator_deferred (id int unique deferrable initially deferred)`,
      sql`insert into emulator_deferred values (1), (1)`,
    ])
    expect(await failure(batch)).toMatchObject({ code: '23505' })
    expect((await sql`select to_regclass('emulator_deferred')`).rows).toEqual([[null]])
  })

  it('has the requested isolation and access', async () => {
    const results = await sql.transaction(
      [sql`show transaction_isolation`, sql`show transaction_read_only`, sql`show transaction_deferrable`],
      { isolationLevel: 'Serializable', readOnly: true, deferrable: true },
    )
    expect(results.map(({ rows }) => rows)).toEqual([[['serializable']], [['on']], [['on']]])
    const write = sql.transaction([sql`insert into emulator_notes values (320)`], { readOnly: true })
    expect(await failure(write)).toMatchObject({ code: '25006' })
  })
})

test('a response over 10 MiB is a 507, and one just below is not', async () => {
  const big = await failure(sql`select repeat('x', 10 * 1024 * 1024)`)
  expect(big.message).toContain('HTTP status 507')
  const { rows } = await sql`select repeat('x', 10 * 1024 * 1024 - 1000)`
  expect(rows[0]?.[0]).toHaveLength(10_484_760)
})

test('without the text and array headers, rows are objects and numbers are JSON', async () => {
  const query = `select 1 as i, 'x' as t, null as n, 2.50::numeric as d, true as b`
  const response = await handler(post(JSON.stringify({ query })))
  expect(await response.json()).toMatchObject({ rows: [{ i: 1, t: 'x', n: null, d: '2.50', b: true }] })
})

test.for([
  ['', {}],
  ['select 1', {}],
  ['[]', {}],
  ['{"query": 1}', {}],
  ['{"queries": [{}]}', {}],
  ['{"queries": []}', { 'Neon-Batch-Isolation-Level': 'Chaos' }],
] as const)('the body %j with headers %j is a 400', async ([body, headers]) => {
  const response = await handler(post(body, headers))
  expect([response.status, await response.json()]).toEqual([400, { message: expect.any(String) }])
})

test('40 concurrent queries get their own results', async () => {
  const lengthOf = (index: number) => (index % 2 ? 200_000 : 1)
  const indexes = Array.from({ length: 40 }, (_, index) => index)
  const results = await Promise.all(
    indexes.map((index) => sql.query('select length($1) + $2::int', ['x'.repeat(lengthOf(index)), index])),
  )
  expect(results.map(({ rows }) => rows[0]?.[0])).toEqual(indexes.map((index) => lengthOf(index) + index))
})

test.runIf(inject('realPostgres'))('a killed connection fails its own query only', async () => {
  const killed = await failure(sql`select pg_terminate_backend(pg_backend_pid())`)
  expect(killed).toMatchObject({ code: '57P01' })
  expect((await sql`select 1`).rows).toEqual([[1]])

  const idle = (await sql`select pg_backend_pid()`).rows[0]?.[0]
  await withClient(databaseUrl, (client) => client.query('select pg_terminate_backend($1)', [idle]))
  const next = async () => (await sql`select 2`.catch(() => ({ rows: [] }))).rows
  await expect.poll(next).toEqual([[2]])
})

test('an unreachable database is a 500, a missing database a 400', async () => {
  expect((await selectFrom('postgresql://postgres@127.0.0.1:1/postgres')).status).toBe(500)
  const url = new URL(databaseUrl)
  url.pathname = '/no_such_database'
  const response = await selectFrom(url.href)
  expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ code: '3D000' })])
})

test("bytes that are not Postgres's protocol fail the query and not the process", async () => {
  const int32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer).swap32()
  const message = (type: string, ...parts: Buffer[]) => {
    const content = Buffer.concat(parts)
    return Buffer.concat([Buffer.from(type), int32(content.length + 4), content])
  }
  const greeting = Buffer.concat([message('R', int32(0)), message('Z', Buffer.from('I'))])
  const rowLongerThanItsMessage = message('D', Buffer.from([0, 2]), int32(2_032_809_372))
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(greeting)
      socket.on('data', () => socket.write(rowLongerThanItsMessage))
    })
    socket.on('error', () => socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : ''
  expect((await selectFrom(`postgresql://postgres@127.0.0.1:${port}/postgres`)).status).toBe(400)
  server.close()
})
