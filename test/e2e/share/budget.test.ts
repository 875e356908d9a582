import { expect, test } from 'vitest'
import { sha256 } from '../../../lib/hash.ts'
import { startShare } from '../../fixtures/share.ts'
import { tenant } from '../../fixtures/tenant.ts'

const { db, service } = await startShare()

test('a key has one budget, however the header spells it', async () => {
  const { key } = await tenant(db)
  const inAnHour = String(Date.now() + 3_600_000)
  const bucket = `export-api:${await sha256(`authorization ${key}`)}`
  await service.redis(['HSET', bucket, 'refilledAt', inAnHour, 'tokens', '4'])
  const statuses: number[] = []
  for (const Authorization of [
    `Bearer ${key}`,
    `bearer ${key}`,
    `BEARER  ${key}`,
    `Bearer \t${key}\t`,
    `bEARER   ${key}`,
  ])
    statuses.push(
      (await fetch(`${service.url}/api/sharing/v1/shares`, { headers: { Authorization } })).status,
    )
  expect(statuses).toEqual([200, 200, 200, 200, 429])
})
