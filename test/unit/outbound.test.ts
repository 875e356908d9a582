import { expect, test } from 'vitest'
import { type Intercept, outbound } from '../../emulator/workers/outbound.ts'

function start(intercept?: Intercept) {
  const subrequests = { neon: 0, upstash: 0 }
  const reply = (text: string) => () => Promise.resolve(new Response(text))
  const handlers = { neon: reply('from Neon'), upstash: reply('from Upstash') }
  const send = outbound({ handlers, subrequests, latencyMs: 0, intercept })
  const get = async (url: string) => {
    const response = await send(new Request(url))
    return [response.status, await response.text()]
  }
  return { get, subrequests }
}

test('requests are routed by host and counted', async () => {
  const { get, subrequests } = start()
  expect(await get('https://api.neon.test/sql')).toEqual([200, 'from Neon'])
  expect(await get('https://local.upstash.test/')).toEqual([200, 'from Upstash'])
  expect(subrequests).toEqual({ neon: 1, upstash: 1 })
})

test.for([
  'https://example.com/',
  'http://127.0.0.1:8787/',
  'https://api.neon.test.example.com/sql',
])('%s is not reached', async (url) => {
  const { get, subrequests } = start()
  expect(await get(url)).toEqual([502, expect.stringContaining(new URL(url).host)])
  expect(subrequests).toEqual({ neon: 0, upstash: 0 })
})

test('a fault answers for one server only', async () => {
  const { get } = start((service) =>
    service === 'neon' ? Promise.resolve(new Response('fault', { status: 503 })) : undefined,
  )
  expect(await get('https://api.neon.test/sql')).toEqual([503, 'fault'])
  expect(await get('https://local.upstash.test/')).toEqual([200, 'from Upstash'])
})
