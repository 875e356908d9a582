import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { upstash } from '../../../emulator/upstash/handler.ts'
import { connectRedis } from '../../../emulator/upstash/redis.ts'

const sockets = new Set<Socket>()
let silent = false

/** As much of a Redis as it takes to go away: it answers OK to everything. */
function redisThatIsFine(): Server {
  return createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      const commands = bytes.toString().match(/^\*\d+\r$/gm) ?? []
      if (!silent) socket.write('+OK\r\n'.repeat(commands.length))
    })
  })
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function goAway(server: Server): Promise<void> {
  for (const socket of sockets) socket.destroy()
  server.close()
  await once(server, 'close')
}

const first = redisThatIsFine()
const port = await listen(first, 0)
const redis = await connectRedis(`redis://127.0.0.1:${port}`)
const answer = upstash(redis, 'right')

const ping = async (path: string, body: unknown) => {
  const headers = { Authorization: 'Bearer right' }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await answer(new Request(`https://local.upstash.test${path}`, init))
  return { status: response.status, body: await response.json() }
}
const isFine = { status: 200, body: { result: 'OK' } }
const isAway = { status: 500, body: { error: expect.stringContaining('Redis is away') } }

afterAll(() => redis.close())

test('a Redis that goes away or falls silent is an error in every answer, and none when it is back', async () => {
  expect(await ping('/', ['PING'])).toEqual(isFine)

  silent = true
  expect(await ping('/', ['PING'])).toEqual(isAway)
  silent = false

  await goAway(first)
  expect(await ping('/', ['PING'])).toEqual(isAway)
  expect(await ping('/pipeline', [['PING'], ['PING']])).toEqual(isAway)
  expect(await ping('/multi-exec', [['PING']])).toEqual(isAway)

  const second = redisThatIsFine()
  await listen(second, port)
  await expect.poll(() => ping('/', ['PING']), { timeout: 10_000 }).toEqual(isFine)
  await goAway(second)
})

test('one that cannot be reached at the start is an error with the reason', async () => {
  await expect(connectRedis('redis://127.0.0.1:1')).rejects.toThrow('ECONNREFUSED')
})
