import { expect, onTestFinished, test } from 'vitest'
import { findEndpoints } from '../fixtures/endpoints.ts'
import { startOwnService } from '../fixtures/own-service.ts'

test('an address has one limit over all Workers', async () => {
  const service = await startOwnService({ outerLimit: 3 })
  onTestFinished(service.close)
  const accepted = async (addressOf: (index: number) => string) => {
    const asked = (await findEndpoints()).map(({ path }, index) =>
      fetch(`${service.url}/api/export/v1${path}`, { headers: { 'CF-Connecting-IP': addressOf(index) } }),
    )
    return (await Promise.all(asked)).filter(({ status }) => status === 401).length
  }
  expect(await accepted((index) => `192.0.2.${index}`)).toBe(9)
  // A minute of the limit can end between them.
  expect(await accepted(() => '203.0.113.7')).toBeLessThanOrEqual(6)
})
