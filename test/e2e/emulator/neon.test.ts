import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { NeonDbError, neon as neonClient, neonConfig } from '@neondatabase/serverless'
import { afterAll, beforeAll, describe, expect, inject, it, test } from 'vitest'
import { neon } from '../../../emulator/neon/handler.ts'
import { openPools } from '../../../emulator/neon/pools.ts'
import { withClient } from '../../support/database.ts'

const databaseUrl = inject('databaseUrl')
const pools = openPools(databaseUrl, { roles: false })
const answer = neon(pools)
neonConfig.fetchFunction = (url: string, init: RequestInit) => answer(new Request(url, init))

const options = { fullResults: true, arrayMode: true } as const
const sql = neonClient('postgresql://export:export@ep-local.neon.test/export', options)
const asText = { types: { getTypeParser: () => (text: string) => text } }

/** The error of a query that has to fail. */
async function failure(query: Promise<unknown>): Promise<NeonDbError> {
  const outcome = await query.catch((error: unknown) => error)
  if (outcome instanceof NeonDbError) return outcome
  throw new Error('the query did not fail as Neon fails')
}

/** Posts a body as it is, with the headers that Neon's client sends. */
const post = (body: string, headers: Record<string, string> = {}) =>
  answer(
    new Request('https://api.neon.test/sql', {
      method: 'POST',
      body,
      headers: { 'Neon-Connection-String': 'postgresql://x', ...headers },
    }),
  )

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
  const { rows, fields } = await sql.query(
    `select '2026-01-02'::date, '2026-01-02 03:04:05.6+00'::timestamptz, 12345678901234567890.50::numeric, 7::int8,
       0.1::float8, true, '{"a": 1}'::jsonb, '{x,"y z"}'::text[], null::text as nothing, '\\x00ff'::bytea`,
    [],
    asText,
  )
  expect(rows).toEqual([
    [
      '2026-01-02',
      '2026-01-02 03:04:05.6+00',
      '12345678901234567890.50',
      '7',
      '0.1',
      't',
      '{"a": 1}',
      '{x,"y z"}',
      null,
      '\\x00ff',
    ],
  ])
  expect(fields[8]).toMatchObject({ name: 'nothing', dataTypeID: 25, format: 'text' })
})

test('parameters of every kind arrive', async () => {
  const { rows } = await sql.query(
    'select $1::int + 1, $2::date, $3::jsonb, $4::text[], $5::bool, $6::text',
    [41, '2026-02-03', { a: [1] }, ['x', 'y z'], true, null],
  )
  expect(rows).toEqual([[42, expect.any(Date), { a: [1] }, ['x', 'y z'], true, null]])
})

test('a command says what it did to how many rows', async () => {
  const result = await sql.query('insert into emulator_notes values (101), (102)')
  expect(result).toMatchObject({ command: 'INSERT', rowCount: 2, rows: [] })
})

describe('errors carry what Postgres says', () => {
  it('for a broken constraint', async () => {
    await sql.query('insert into emulator_notes values (200)')
    expect(await failure(sql.query('insert into emulator_notes values (200)'))).toMatchObject({
      code: '23505',
      severity: 'ERROR',
      table: 'emulator_notes',
      constraint: 'emulator_notes_pk',
      detail: 'Key (id)=(200) already exists.',
    })
  })

  it('for a syntax error, with its position', async () => {
    expect(await failure(sql.query('select !'))).toMatchObject({ code: '42601', position: '9' })
  })

  it('for a NUL in a parameter', async () => {
    expect(await failure(sql.query('select $1::text', ['a\0b']))).toMatchObject({ code: '22021' })
  })

  it('for several statements in one, which Neon refuses even without parameters', async () => {
    expect(await failure(sql.query('select 1; select 2'))).toMatchObject({ code: '42601' })
  })
})

describe('a batch', () => {
  const ids = async (from: number) =>
    (await sql.query('select id from emulator_notes where id between $1 and $1 + 9 order by id', [from])).rows

  it('is committed as a whole', async () => {
    const results = await sql.transaction([
      sql`insert into emulator_notes values (300)`,
      sql`select id from emulator_notes where id = 300`,
    ])
    expect(results[1]?.rows).toEqual([[300]])
    expect(await ids(300)).toEqual([[300]])
  })

  it('leaves nothing when one of its queries fails', async () => {
    const failed = sql.transaction([sql`insert into emulator_notes values (310)`, sql`select 1 / 0`])
    expect(await failure(failed)).toMatchObject({ code: '22012' })
    expect(await ids(310)).toEqual([])
  })

  it('leaves nothing when its commit fails', async () => {
    const failed = sql.transaction([
      sql`create table emulator_deferred (id int unique deferrable initially deferred)`,
      sql`insert into emulator_deferred values (1), (1)`,
    ])
    expect(await failure(failed)).toMatchObject({ code: '23505' })
    expect((await sql`select to_regclass('emulator_deferred')`).rows).toEqual([[null]])
  })

  it('has the isolation and the access that it asks for', async () => {
    const [isolation, readOnly, deferrable] = await sql.transaction(
      [sql`show transaction_isolation`, sql`show transaction_read_only`, sql`show transaction_deferrable`],
      { isolationLevel: 'Serializable', readOnly: true, deferrable: true },
    )
    expect([isolation?.rows, readOnly?.rows, deferrable?.rows]).toEqual([
      [['serializable']],
      [['on']],
      [['on']],
    ])
  })

  it('that only reads may not write', async () => {
    const failed = sql.transaction([sql`insert into emulator_notes values (320)`], { readOnly: true })
    expect(await failure(failed)).toMatchObject({ code: '25006' })
  })
})

test('an answer over 10 MiB is refused, and one just below is not', async () => {
  const big = await failure(sql`select repeat('x', 10 * 1024 * 1024)`)
  expect(big.message).toContain('HTTP status 507')
  expect((await sql`select length(repeat('x', 10 * 1024 * 1024 - 1000))`).rows).toEqual([[10_484_760]])
  const { rows } = await sql`select repeat('x', 10 * 1024 * 1024 - 1000)`
  expect(rows[0]?.[0]).toHaveLength(10_484_760)
})

test('rows are objects and numbers are JSON for a caller that asks for neither arrays nor text', async () => {
  const response = await post(
    `{"query": "select 1 as i, 'x' as t, null as n, 2.50::numeric as d, true as b"}`,
  )
  expect(await response.json()).toMatchObject({ rows: [{ i: 1, t: 'x', n: null, d: '2.50', b: true }] })
})

test('what is no request is a 400 that says so', async () => {
  const bodies = ['', 'select 1', '[]', '{"query": 1}', '{"queries": [{}]}']
  for (const body of bodies) {
    const response = await post(body)
    expect([body, response.status, await response.json()]).toEqual([
      body,
      400,
      { message: expect.any(String) },
    ])
  }
  const isolation = await post('{"queries": []}', { 'Neon-Batch-Isolation-Level': 'Chaos' })
  expect([isolation.status, await isolation.json()]).toEqual([400, { message: 'invalid isolation level' }])
})

test('40 queries at once get each their own answer, however large their parameters', async () => {
  const large = 'x'.repeat(200_000)
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const { rows } = await sql.query('select length($1) + $2::int', [i % 2 ? large : 'x', i])
      return rows[0]?.[0]
    }),
  )
  expect(answers).toEqual(Array.from({ length: 40 }, (_, i) => (i % 2 ? 200_000 : 1) + i))
})

test.runIf(inject('realPostgres'))(
  'a connection that is killed costs the query that it ran, no more',
  async () => {
    const killed = await failure(sql`select pg_terminate_backend(pg_backend_pid())`)
    expect(killed).toMatchObject({ code: '57P01' })
    expect((await sql`select 1`).rows).toEqual([[1]])

    const idle = (await sql`select pg_backend_pid()`).rows[0]?.[0]
    await withClient(databaseUrl, (client) => client.query('select pg_terminate_backend($1)', [idle]))
    const recovered = async () => (await sql`select 2`.catch(() => ({ rows: [] }))).rows
    await expect.poll(recovered).toEqual([[2]])
  },
)

test('a database that is away is a 500, and one that does not exist a 400', async () => {
  const away = openPools('postgresql://postgres@127.0.0.1:1/postgres', { roles: false })
  const headers = { 'Neon-Connection-String': 'postgresql://x' }
  const request = () =>
    new Request('https://api.neon.test/sql', { method: 'POST', body: '{"query":"select 1"}', headers })
  expect((await neon(away)(request())).status).toBe(500)

  const url = new URL(databaseUrl)
  url.pathname = '/no_such_database'
  const missing = openPools(url.href, { roles: false })
  const response = await neon(missing)(request())
  expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ code: '3D000' })])
  await Promise.all([away.end(), missing.end()])
})

test('a database whose bytes make no sense fails the query, and not the process', async () => {
  const number = (value: number) => Buffer.from(Uint32Array.of(value).buffer).swap32()
  const message = (type: string, ...parts: Buffer[]) => {
    const content = Buffer.concat(parts)
    return Buffer.concat([Buffer.from(type), number(content.length + 4), content])
  }
  const welcome = Buffer.concat([message('R', number(0)), message('Z', Buffer.from('I'))])
  const rowBeyondItself = message('D', Buffer.from([0, 2]), number(2_032_809_372))
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(welcome)
      socket.on('data', () => socket.write(rowBeyondItself))
    })
    socket.on('error', () => socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const senseless = openPools(`postgresql://postgres@127.0.0.1:${port}/postgres`, { roles: false })
  const headers = { 'Neon-Connection-String': 'postgresql://x' }
  const request = new Request('https://api.neon.test/sql', {
    method: 'POST',
    body: '{"query":"select 1"}',
    headers,
  })
  expect((await neon(senseless)(request)).status).toBe(400)
  await senseless.end()
  server.close()
})
