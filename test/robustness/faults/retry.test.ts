import { expect, test } from 'vitest'
import { fillDaily } from '../../support/daily.ts'
import { dice } from '../../support/dice.ts'
import { findEndpoints } from '../../support/endpoints.ts'
import { outcomeCounter } from '../../support/faults/assertions.ts'
import { FAULTS } from '../../support/faults/catalogue.ts'
import { pullPatiently } from '../../support/faults/retrying.ts'
import { faultyService } from '../../support/faults/service.ts'
import { SILENCES } from '../../support/faults/wire.ts'
import { storedRows } from '../../support/stored.ts'
import { tenant } from '../../support/tenant.ts'
import { database } from '../../support/world.ts'

const db = database()
const service = faultyService()
const { judge } = outcomeCounter('answers to callers who retry')
const paged = (await findEndpoints()).filter((endpoint) => endpoint.paged)

const WINDOW = { fromDate: '2015-01-01', toDate: '2024-12-31' }
const FAULTY = 0.3
const SILENT = 0.01
const CALLERS = 4

test('callers who retry have every row once, though 30 % of trips fail', async () => {
  const { key, brandId } = await tenant(db)
  for (const { name } of paged) {
    await fillDaily(db, { name, brandId, rows: 3100, first: WINDOW.fromDate, days: 3100 })
  }
  const { chance, pick } = dice(7)
  let struck = 0
  service.strike((asked) => {
    if (!chance(FAULTY)) return undefined
    struck += 1
    return chance(SILENT) ? pick(SILENCES) : pick(FAULTS[asked])
  })

  const query = { brandId, ...WINDOW }
  const pulls = paged.flatMap((endpoint) =>
    Array.from({ length: CALLERS }, async () => {
      const rows = await pullPatiently(endpoint.path, { service: service.url(), key, query }, judge)
      const expected = await storedRows(db, { ...endpoint, brandId })
      expect(expected).toHaveLength(3100)
      expect(rows).toEqual(expected)
    }),
  )
  await Promise.all(pulls)
  expect(struck).toBeGreaterThan(pulls.length)
})
