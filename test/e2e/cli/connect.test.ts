import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { portOf } from '../../../cli/local/port.ts'
import { runCommand } from '../../fixtures/command.ts'
import { startTlsServer } from '../../fixtures/tls-server.ts'

test('a command connects to no server whose database has no name', async () => {
  const server = createServer(() => expect.unreachable())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const DATABASE_URL = `postgres://me@127.0.0.1:${portOf(server)}`
  expect(await runCommand('migrate.ts', [], { DATABASE_URL })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'DATABASE_URL must look like postgresql://user:password@host:5432/database.\n',
  })
})

test("Neon's connection string requires a trusted certificate, and prints no warning", async () => {
  const { url } = await startTlsServer(() => expect.unreachable())
  const server = createServer((socket) => {
    // Postgres agrees to TLS with one byte.
    socket.once('data', () => {
      socket.write('S')
      socket.pipe(connect(Number(new URL(url).port), '127.0.0.1')).pipe(socket)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const DATABASE_URL = `postgresql://me@localhost:${portOf(server)}/x?sslmode=require&channel_binding=require`
  expect(await runCommand('refresh.ts', [], { DATABASE_URL })).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Cannot connect with DATABASE_URL: self-signed certificate.*\n$/),
  })
})
