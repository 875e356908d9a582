import { connect } from 'node:net'
import pg from 'pg'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../../../emulator/postgres/embedded.ts'
import { startupMessage } from '../../../emulator/postgres/messages.ts'

const postgres = await startEmbeddedPostgres()
const port = Number(new URL(postgres.url).port)
const clients: pg.Client[] = []

async function connectClient(): Promise<pg.Client> {
  const client = new pg.Client(postgres.url)
  client.on('error', () => undefined)
  clients.push(client)
  await client.connect()
  return client
}

/** Closes the connection as the death of the client's process does. */
const kill = ({ connection }: pg.Client) => connection.stream.destroy()

const value = async (client: pg.Client, sql: string) => Object.values((await client.query(sql)).rows[0])[0]

beforeEach(async () => {
  const client = await connectClient()
  await client.query('drop table if exists t')
  await client.query('create table t (id int primary key)')
})

afterAll(async () => {
  for (const client of clients) kill(client)
  await postgres.close()
})

test('a transaction is isolated, and others can connect meanwhile', async () => {
  const one = await connectClient()
  await one.query('begin')
  await one.query('insert into t values (1)')
  const other = await connectClient()
  const count = value(other, 'select count(*)::int from t')
  await one.query('insert into t values (2)')
  await one.query('rollback')
  expect(await count).toBe(0)
})

test('a client that dies in a transaction leaves no rows and blocks no other client', async () => {
  const [one, other] = [await connectClient(), await connectClient()]
  await one.query('begin')
  await one.query('insert into t values (1)')
  const count = value(other, 'select count(*)::int from t')
  kill(one)
  expect(await count).toBe(0)
})

test('settings and roles end with their client', async () => {
  const one = await connectClient()
  await one.query("set timezone = 'America/New_York'")
  await one.query('set role pg_read_all_data')
  await one.end()
  const next = await connectClient()
  expect(await value(next, 'show timezone')).toBe('UTC')
  expect(await value(next, 'select current_user')).toBe('postgres')
})

test('COPY from a client or with a program, and another database are clear errors', async () => {
  const one = await connectClient()
  for (const sql of [
    'copy t from stdin',
    `copy t from program 'ls'`,
    `copy (select 1) to program 'cat'`,
    `select 1; copy t from program 'ls'`,
    `/* ${'long '.repeat(200)} */ copy t from program 'ls'`,
  ])
    await expect(one.query(sql), sql).rejects.toMatchObject({ code: '0A000' })
  const text = 'Copy & Program: copy t from program x; copy t from stdin'
  expect(await value(one, `select '${text}'`)).toBe(text)
  expect((await one.query('select $1::text as text', [text])).rows).toEqual([{ text }])
  expect(await value(one, 'select 1')).toBe(1)
  const other = new pg.Client(postgres.url.replace(/postgres$/, 'other'))
  await expect(other.connect()).rejects.toMatchObject({ code: '3D000' })
})

test.for([
  ['GET //[ HTTP/1.1\r\n\r\n'],
  ['\0\0\0\0\0\0\0\0'],
  ['an encrypted start without a length', '\0\0\0\0\x04\xd2\x16\x2f'],
  ['a start of -1 bytes', '\xff\xff\xff\xff\0\x03\0\0'],
  ['a message of an unknown type', `${startupMessage().toString('latin1')}z\0\0\0\x04S\0\0\0\x04`],
  ['a message that is too short', `${startupMessage().toString('latin1')}Q\0\0\0\x03`],
] as const)('%j is not a Postgres client', async ([junk, bytes = junk]) => {
  const socket = connect(port, '127.0.0.1')
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.on('error', () => undefined)
  socket.resume().write(bytes, 'latin1')
  await closed
  expect(await value(await connectClient(), 'select 1')).toBe(1)
})
