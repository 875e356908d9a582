import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { expectPageOrUnavailable, inTime } from '../../faults/assertions.ts'
import { SILENCES } from '../../faults/connections.ts'
import { FAULTS } from '../../faults/faults.ts'
import { faultyService } from '../../faults/faulty-service.ts'
import { type Call, call, FRESH, type Row } from '../../fixtures/call.ts'
import { findEndpoints } from '../../fixtures/endpoints.ts'
import { fillDaily } from '../../fixtures/fill-daily.ts'
import { seededRandom } from '../../fixtures/random.ts'
import { database } from '../../fixtures/rows.ts'
import { tenant } from '../../fixtures/tenant.ts'
import { storedRows } from '../../sync/stored-rows.ts'

const db = database()
const service = faultyService()
const metrics = (await findEndpoints()).filter(({ kind }) => kind === 'metric')

const WINDOW = { fromDate: '2015-01-01', toDate: '2024-12-31' }
const FAULTY = 0.3
const SILENT = 0.01
const CALLERS = 4

/** A test waits at most this long, whatever `Retry-After` says. */
const MAX_WAIT_MS = 150

/** Requests for one page before the test gives up. */
const TRIES = 400

/** Follows `nextCursor` to the end, and repeats a request after a 503. */
async function pullPatiently(path: string, options: Call): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | undefined
  for (let tries = 0; tries < TRIES; ) {
    const query = { ...options.query, cursor }
    const answer = await inTime(call(path, { ...options, headers: FRESH, query }))
    if (expectPageOrUnavailable(answer) === 'unavailable') {
      tries += 1
      await delay(Math.min(MAX_WAIT_MS, Number(answer.headers.get('Retry-After')) * 1_000))
      continue
    }
    rows.push(...answer.data)
    if (answer.pagination.nextCursor === null) return rows
    cursor = answer.pagination.nextCursor
  }
  throw new Error(`${path} returned 503 ${TRIES} times`)
}

test('callers who retry have every row once, though 30 % of trips fail', async () => {
  const { key, brandId } = await tenant(db)
  for (const { name } of metrics) {
    await fillDaily(db, { name, brandId, rows: 3100, first: WINDOW.fromDate, days: 3100 })
  }
  const { chance, pick } = seededRandom(7)
  let struck = 0
  service.strike((asked) => {
    if (!chance(FAULTY)) return undefined
    struck += 1
    return chance(SILENT) ? pick(SILENCES) : pick(FAULTS[asked])
  })

  const query = { brandId, ...WINDOW }
  const pulls = metrics.flatMap((endpoint) =>
    Array.from({ length: CALLERS }, async () => {
      const rows = await pullPatiently(endpoint.path, { service: service.url(), key, query })
      const expected = await storedRows(db, { ...endpoint, brandId })
      expect(expected).toHaveLength(3100)
      expect(rows).toEqual(expected)
    }),
  )
  await Promise.all(pulls)
  expect(struck).toBeGreaterThan(pulls.length)
})
