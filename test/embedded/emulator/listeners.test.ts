import childProcess from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test, vi } from 'vitest'
import { startEgress } from '../../../emulator/workers/egress.ts'
import { startOwnService } from '../../fixtures/own-service.ts'

const spawn = vi.spyOn(childProcess, 'spawn')
const service = await startOwnService()
afterAll(() => service.close())
const spawned = spawn.mock.calls.flat(2).join(' ')
const loopback = Number(/--external-addr=loopback=127\.0\.0\.1:(\d+)/.exec(spawned)?.[1])

/** Sends a request, and returns its response. */
async function send(
  port: number,
  { line, headers = ['Host: localhost', 'Connection: close'], body = '' }: RawRequest,
): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`${[line, `Content-Length: ${body.length}`, ...headers].join('\r\n')}\r\n\r\n${body}`)
  return text(socket).catch(({ code }) => code)
}

type RawRequest = { readonly line: string; readonly headers?: readonly string[]; readonly body?: string }

const WEB_SOCKET = ['Host: localhost', 'Connection: close, Upgrade', 'Upgrade: websocket']

const MALFORMED: readonly RawRequest[] = [
  { line: 'GET //[ HTTP/1.1' },
  { line: 'GET http://[ HTTP/1.1' },
  { line: 'GET http://localhost/docs HTTP/1.1' },
  { line: 'GET * HTTP/1.1' },
  { line: 'CONNECT localhost:1 HTTP/1.1' },
  { line: 'GET / HTTP/1.1', headers: ['Host:', 'Connection: close'] },
  { line: 'GET / HTTP/1.1', headers: ['Host: [', 'Connection: close'] },
  { line: 'GET / HTTP/1.1', headers: ['Connection: close'] },
  { line: '\0' },
]

const STACK = JSON.stringify({ stack: `Error: x\n    at x (${import.meta.filename}:1:1)`, message: 'x' })

test.for<RawRequest>([
  ...MALFORMED,
  { line: 'POST /core/error HTTP/1.1', body: STACK },
  { line: 'GET /core/public-url HTTP/1.1', headers: WEB_SOCKET },
])("miniflare's loopback server closes the connection of %j", async (request) => {
  expect(await send(loopback, request)).toMatch(/^(ECONNRESET|EPIPE|)$/)
  expect((await fetch(`${service.url}/docs`)).status).toBe(200)
})

test('only workerd reaches the imitations of Neon and Upstash', async () => {
  const egress = await startEgress(() => expect.unreachable())
  const port = Number(egress.service.external.address.split(':')[1])
  for (const request of [...MALFORMED, { line: 'POST /sql HTTP/1.1', headers: WEB_SOCKET }])
    expect(await send(port, request)).toMatch(/^(HTTP\/1\.1 40[03] |$)/)
  await egress.close()
})
