import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { ERRORS } from '../../lib/request/errors.ts'
import { call } from '../fixtures/call.ts'
import { expectError } from '../fixtures/expect-error.ts'
import { startOwnService } from '../fixtures/own-service.ts'

const service = await startOwnService({ outerLimit: 3 })
afterAll(() => service.close())

let addresses = 0
const newAddress = () => {
  addresses += 1
  return `192.0.2.${addresses}`
}

/** Sends a request with a budget of its own in Redis. */
const send = (path: string, { key, address }: { key?: string; address: string }) =>
  call(path, {
    service: service.url,
    key,
    headers: { 'CF-Connecting-IP': address, Cookie: `session=${randomUUID()}` },
  })

const minute = () => Math.floor(Date.now() / 60_000)

/** Runs steps of new clients; again when a minute of the binding's clock has ended between them. */
async function withinMinute(steps: () => Promise<void>): Promise<void> {
  for (;;) {
    const start = minute()
    const [outcome] = await Promise.allSettled([steps()])
    if (minute() !== start) continue
    if (outcome.status === 'rejected') throw outcome.reason
    return
  }
}

test('an address has one limit over all Workers, however many cookies it sends', () =>
  withinMinute(async () => {
    const address = newAddress()
    for (const path of ['/openapi.json', '/healthz', '/openapi.json'])
      expect((await send(path, { address })).status).toBe(200)
    const before = service.subrequests()
    for (const path of ['/healthz', '/brands', '/changes']) {
      const answer = await send(path, { address })
      expectError(answer, 429)
      expect([answer.error, answer.headers.get('Retry-After')]).toEqual([ERRORS.outerLimit.message, '60'])
    }
    expect(service.subrequests()).toEqual(before)
    expect((await send('/openapi.json', { address: newAddress() })).status).toBe(200)
  }))
