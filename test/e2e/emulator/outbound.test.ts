import { expect, test } from 'vitest'
import { outbound, type Service } from '../../../emulator/workers/outbound.ts'

const say = (text: string) => () => Promise.resolve(new Response(text))

function network(intercept?: (service: Service) => Promise<Response> | undefined) {
  const trips = { neon: 0, upstash: 0 }
  const handlers = { neon: say('from Neon'), upstash: say('from Upstash') }
  const send = outbound({ handlers, trips, latencyMs: 0, intercept })
  const ask = async (url: string) => {
    const response = await send(new Request(url))
    return [response.status, await response.text()]
  }
  return { ask, trips }
}

test('each server is told by its host, and its requests are counted', async () => {
  const { ask, trips } = network()
  expect(await ask('https://api.neon.test/sql')).toEqual([200, 'from Neon'])
  expect(await ask('https://local.upstash.test/pipeline')).toEqual([200, 'from Upstash'])
  expect(await ask('https://local.upstash.test/')).toEqual([200, 'from Upstash'])
  expect(trips).toEqual({ neon: 1, upstash: 2 })
})

test('nothing else is let out', async () => {
  const { ask, trips } = network()
  for (const url of [
    'https://example.com/',
    'http://127.0.0.1:8787/',
    'https://api.neon.test.example.com/sql',
  ]) {
    expect(await ask(url)).toEqual([502, expect.stringContaining(new URL(url).host)])
  }
  expect(trips).toEqual({ neon: 0, upstash: 0 })
})

test('a fault can answer for one server and leave the other alone', async () => {
  const { ask } = network((service) =>
    service === 'neon' ? Promise.resolve(new Response('fault', { status: 503 })) : undefined,
  )
  expect(await ask('https://api.neon.test/sql')).toEqual([503, 'fault'])
  expect(await ask('https://local.upstash.test/')).toEqual([200, 'from Upstash'])
})
