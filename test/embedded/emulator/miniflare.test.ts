import childProcess from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Emulator } from '../../../emulator/start.ts'
import { startOwnService } from '../../fixtures/own-service.ts'

let service: Emulator
let folder: string
let port: number

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'miniflare-test-'))
  const spawn = vi.spyOn(childProcess, 'spawn')
  service = await startOwnService()
  const args = spawn.mock.calls.flat(2).join(' ')
  port = Number(/--external-addr=loopback=127\.0\.0\.1:(\d+)/.exec(args)?.[1])
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})

/** Sends a request to miniflare's loopback server, and returns its response. */
async function send(line: string, headers: readonly string[] = [], body = ''): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const lines = [line, 'Host: localhost', `Content-Length: ${body.length}`, ...headers]
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  return text(socket).catch(({ code }) => code)
}

const CLOSED = /^(ECONNRESET|EPIPE|)$/

const STACK = JSON.stringify({ stack: `Error: x\n    at x (${import.meta.filename}:1:1)`, message: 'x' })

test.for([
  ['GET //[ HTTP/1.1'],
  ['POST /core/error HTTP/1.1', ['Accept: text/html'], STACK],
  ['GET /core/public-url HTTP/1.1', ['Connection: Upgrade', 'Upgrade: websocket']],
] as const)("miniflare's loopback server closes the connection of %j", async ([line, headers, body]) => {
  expect(await send(line, headers, body)).toMatch(CLOSED)
  expect((await fetch(`${service.url}/docs`)).status).toBe(200)
})

test("miniflare's loopback server writes no file", async () => {
  const extension = encodeURIComponent(`x/${'../'.repeat(20)}${folder}/written`)
  expect(await send(`POST /core/store-temp-file?extension=${extension} HTTP/1.1`, [], 'x')).toMatch(CLOSED)
  expect(await readdir(folder)).toEqual([])
})
