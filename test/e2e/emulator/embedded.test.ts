import { connect } from 'node:net'
import pg from 'pg'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../../../emulator/postgres/embedded.ts'
import { startup } from '../../../emulator/postgres/frames.ts'

const postgres = await startEmbeddedPostgres()
const clients: pg.Client[] = []

async function client(): Promise<pg.Client> {
  const client = new pg.Client(postgres.url)
  client.on('error', () => undefined)
  clients.push(client)
  await client.connect()
  return client
}

/** Cuts a client's connection off, as its process's death would. */
const kill = ({ connection }: pg.Client) => connection.stream.destroy()

const first = async (client: pg.Client, sql: string) => Object.values((await client.query(sql)).rows[0])[0]

beforeEach(async () => {
  const cleaner = await client()
  await cleaner.query('drop table if exists t')
  await cleaner.query('create table t (id int primary key)')
})

afterAll(async () => {
  for (const client of clients) kill(client)
  await postgres.stop()
})

test('a transaction is alone: what others ask waits for its end', async () => {
  const [one, other] = [await client(), await client()]
  await one.query('begin')
  await one.query('insert into t values (1)')
  const seen = first(other, 'select count(*)::int from t')
  await one.query('insert into t values (2)')
  await one.query('rollback')
  expect(await seen).toBe(0)
})

test('one can connect while another is in a transaction', async () => {
  const one = await client()
  await one.query('begin')
  const other = await client()
  await one.query('commit')
  expect(await first(other, 'select 1')).toBe(1)
})

test('a client that dies in its transaction leaves nothing, and holds nobody up', async () => {
  const [one, other] = [await client(), await client()]
  await one.query('begin')
  await one.query('insert into t values (1)')
  const seen = first(other, 'select count(*)::int from t')
  kill(one)
  expect(await seen).toBe(0)
})

test('a client that dies while its query runs holds nobody up', async () => {
  const [one, other] = [await client(), await client()]
  const running = one.query('select pg_sleep(0.3)').catch(() => 'cut off')
  const seen = first(other, 'select 1')
  kill(one)
  expect([await running, await seen]).toEqual(['cut off', 1])
})

test('a client that dies between a message and its Sync leaves the next one a clean session', async () => {
  const socket = connect(Number(new URL(postgres.url).port), '127.0.0.1')
  const answered = Promise.withResolvers<void>()
  // Parse and Flush: an error after which Postgres ignores everything up to the next Sync.
  const parse = Buffer.from('P\0\0\0\x0d\0selec\0\0\0', 'latin1')
  const flush = Buffer.from('H\0\0\0\x04', 'latin1')
  socket.on('data', (bytes) => bytes.includes('syntax error') && answered.resolve())
  socket.write(Buffer.concat([startup(), parse, flush]))
  await answered.promise
  socket.destroy()
  expect(await first(await client(), 'select 1')).toBe(1)
})

test('a setting ends with its client', async () => {
  const one = await client()
  await one.query("set timezone = 'America/New_York'")
  await one.query('set role pg_read_all_data')
  await one.end()
  const next = await client()
  expect(await first(next, 'show timezone')).toBe('UTC')
  expect(await first(next, 'select current_user')).toBe('postgres')
})

test('large messages of many clients do not mix', async () => {
  const pool = new pg.Pool({ connectionString: postgres.url, max: 10 })
  const large = 'x'.repeat(300_000)
  const lengths = await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const { rows } = await pool.query('select length($1) + $2::int as n', [i % 2 ? large : 'x', i])
      return rows[0].n
    }),
  )
  expect(lengths).toEqual(Array.from({ length: 100 }, (_, i) => (i % 2 ? 300_000 : 1) + i))
  await pool.end()
})

test('COPY FROM STDIN and another database are refused, in words', async () => {
  const one = await client()
  await expect(one.query('copy t from stdin')).rejects.toMatchObject({ code: '0A000' })
  expect(await first(one, 'select 1')).toBe(1)
  const other = new pg.Client(postgres.url.replace(/postgres$/, 'other'))
  await expect(other.connect()).rejects.toMatchObject({ code: '3D000' })
})

test('what is no Postgres client is hung up on', async () => {
  for (const junk of ['GET / HTTP/1.1\r\n\r\n', '\0\0\0\0\0\0\0\0']) {
    const socket = connect(Number(new URL(postgres.url).port), '127.0.0.1')
    const ended = new Promise((resolve) => socket.on('close', resolve))
    socket.on('error', () => undefined)
    socket.write(junk)
    await ended
  }
  expect(await first(await client(), 'select 1')).toBe(1)
})
