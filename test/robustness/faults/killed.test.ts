import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { fillDaily } from '../../support/daily.ts'
import { withClient } from '../../support/database.ts'
import { findEndpoints } from '../../support/endpoints.ts'
import { reckoning } from '../../support/faults/assertions.ts'
import { findPostgres, type MortalPostgres, startPostgres } from '../../support/faults/postgres.ts'
import { pullPatiently } from '../../support/faults/retrying.ts'
import { faultyService } from '../../support/faults/service.ts'
import { prepare } from '../../support/schema.ts'
import { storedRows } from '../../support/stored.ts'
import { tenant } from '../../support/tenant.ts'

const binaries = await findPostgres()
const paged = (await findEndpoints()).filter((endpoint) => endpoint.paged)

const WINDOW = { fromDate: '2015-01-01', toDate: '2024-12-31' }
const KILLS = 4

// It brings a server of its own: once, beside the tests on real servers, is enough.
describe.skipIf(binaries === undefined || !inject('realPostgres'))(
  'a PostgreSQL of /usr/lib/postgresql',
  () => {
    let postgres: MortalPostgres
    const service = faultyService(async () => {
      postgres = await startPostgres(binaries ?? '')
      await withClient(postgres.url, prepare)
      return { databaseUrl: postgres.url }
    })
    afterAll(() => postgres.remove())
    const { judge } = reckoning(`answers over ${KILLS} kills of PostgreSQL`)

    test('that is killed again and again costs callers who retry no row and doubles none', async () => {
      const db = new pg.Pool({ connectionString: postgres.url })
      const { key, brandId } = await tenant(db)
      const wanted = await Promise.all(
        paged.map(async (endpoint) => {
          await fillDaily(db, {
            name: endpoint.name,
            brandId,
            rows: 3300,
            first: WINDOW.fromDate,
            days: 3300,
          })
          return { path: endpoint.path, rows: await storedRows(db, { ...endpoint, brandId }) }
        }),
      )
      await db.end()

      let killing = true
      let refused = 0
      const query = { brandId, ...WINDOW }
      const pulling = wanted.map(async ({ path, rows }) => {
        expect(rows).toHaveLength(3300)
        do {
          const options = { service: service.url(), key, query }
          const pulled = await pullPatiently(path, options, async (asked, expect_) =>
            judge(asked, (answer) => {
              if (answer.status === 503) refused += 1
              return expect_(answer)
            }),
          )
          expect(pulled).toEqual(rows)
        } while (killing)
      })
      for (let kills = 0; kills < KILLS; kills += 1) {
        await delay(200 + Math.random() * 1_000)
        await postgres.kill()
        await delay(Math.random() * 500)
        await postgres.start()
      }
      killing = false
      await Promise.all(pulling)
      expect(refused).toBeGreaterThan(KILLS)
    })
  },
)
