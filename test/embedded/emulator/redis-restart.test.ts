import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { upstash } from '../../../emulator/upstash/handler.ts'
import { connectRedis } from '../../../emulator/upstash/redis.ts'

const sockets = new Set<Socket>()
let silent = false

/** A server that answers OK to every Redis command, unless it is silent. */
async function listen(port: number): Promise<Server> {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      const commands = bytes.toString().match(/^\*\d+\r$/gm) ?? []
      if (!silent) socket.write('+OK\r\n'.repeat(commands.length))
    })
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function stop(server: Server): Promise<void> {
  for (const socket of sockets) socket.destroy()
  server.close()
  await once(server, 'close')
}

const first = await listen(0)
const address = first.address()
const port = typeof address === 'object' ? (address?.port ?? 0) : 0
const redis = await connectRedis(`redis://127.0.0.1:${port}`)
const handler = upstash(redis, 'right')

afterAll(() => redis.close())

const send = async (body: unknown) => {
  const init = { method: 'POST', headers: { Authorization: 'Bearer right' }, body: JSON.stringify(body) }
  const response = await handler(new Request('https://local.upstash.test', init))
  return { status: response.status, body: await response.json() }
}
const OK = { status: 200, body: { result: 'OK' } }
const UNAVAILABLE = { status: 500, body: { error: expect.stringContaining('Redis is unavailable') } }

test('a Redis that is silent or stopped is a 500, until it is back', async () => {
  expect(await send(['PING'])).toEqual(OK)
  silent = true
  expect(await send(['PING'])).toEqual(UNAVAILABLE)
  silent = false

  await stop(first)
  expect(await send(['PING'])).toEqual(UNAVAILABLE)

  const second = await listen(port)
  await expect.poll(() => send(['PING'])).toEqual(OK)
  await stop(second)
})

test('connecting to a stopped Redis rejects with the reason', async () => {
  await expect(connectRedis('redis://127.0.0.1:1')).rejects.toThrow('ECONNREFUSED')
})
