import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import type { OwnDatabase } from '../fixtures/database.ts'
import { differences } from '../fixtures/differences.ts'
import { isolatedDatabase } from '../fixtures/isolated-database.ts'
import { refresh } from '../fixtures/rows.ts'
import { sample } from '../fixtures/sample.ts'
import { CLEARANCE } from '../interleavings/histories.ts'
import { settles } from '../interleavings/locks.ts'

const [DAY, OTHER_DAY] = ['2026-10-01', '2026-10-02']

describe.skipIf(!inject('realPostgres'))(
  'a client that lists changes between two commits (skipped without a server: set DATABASE_URL)',
  () => {
    let db: pg.Pool
    let one: pg.Client
    let other: pg.Client
    let own: OwnDatabase

    beforeAll(async () => {
      own = await isolatedDatabase()
      db = new pg.Pool({ connectionString: own.url, max: 4 })
      one = new pg.Client({ connectionString: own.url })
      other = new pg.Client({ connectionString: own.url })
      await Promise.all([one.connect(), other.connect()])
    })
    afterAll(async () => {
      await Promise.all([one.end(), other.end(), db.end()])
      await own.drop()
    })

    beforeEach(async () => {
      // A test that failed may have left something open.
      await Promise.all([one.query('rollback'), other.query('rollback')])
      await db.query(CLEARANCE)
    })

    const list = (client: pg.Client | pg.Pool, brandId: string, day: string) =>
      client.query(
        `select daily.list_changes(jsonb_agg(summary || '{"causes": ["answers"]}'))
         from daily.summaries('visibility', array[$1::uuid], array[$2::date]) as summary`,
        [brandId, day],
      )

    /** A client that has read everything so far: returns the days that are listed since its last call. */
    async function reader(brandId: string): Promise<() => Promise<unknown[]>> {
      let since = ''
      const read = async () => {
        const { rows } = await db.query<{ date: string; changed_at: string }>(
          `select date::text, changed_at from daily.changes
           where brand_id = $1 and changed_at > $2 order by changed_at`,
          [brandId, since],
        )
        since = rows.at(-1)?.changed_at ?? since
        return rows.map(({ date }) => date)
      }
      await read()
      return read
    }

    const ORDERS = {
      'the transaction that began first lists last': async (
        brandId: string,
        read: () => Promise<unknown[]>,
      ) => {
        await one.query('begin')
        await one.query('select from daily.changes')
        await list(db, brandId, OTHER_DAY)
        const between = await read()
        await list(one, brandId, DAY)
        await one.query('commit')
        return between
      },
      'both list at the same time': async (brandId: string, read: () => Promise<unknown[]>) => {
        await one.query('begin')
        await other.query('begin')
        const { rows } = await other.query('select pg_backend_pid() as pid')
        await list(one, brandId, DAY)
        const work = list(other, brandId, OTHER_DAY)
        const [first, second] = (await settles(db, work, rows[0].pid)) ? [other, one] : [one, other]
        await first.query('commit')
        await work
        const between = await read()
        await second.query('commit')
        return between
      },
    }

    test.for(Object.entries(ORDERS))('misses no change when %s', async ([, listBoth]) => {
      const { brand } = await sample(db)
      const read = await reader(brand)
      const between = await listBoth(brand, read)
      expect(between).toHaveLength(1)
      expect([...between, ...(await read())].sort()).toEqual([DAY, OTHER_DAY])
    })

    test('misses no change of a transaction in repeatable read, which fails when another has listed meanwhile', async () => {
      const { brand } = await sample(db)
      const read = await reader(brand)
      await one.query('begin isolation level repeatable read')
      await one.query('select from daily.changes')
      await list(db, brand, OTHER_DAY)
      await expect(list(one, brand, DAY)).rejects.toMatchObject({ code: '40001' })
      await one.query('rollback')
      expect(await read()).toEqual([OTHER_DAY])
    })

    test('misses no day that two refreshes compute, the later one in repeatable read', async () => {
      const { brand } = await sample(db)
      const read = await reader(brand)
      await db.query(`update answers set error = 'withdrawn'`)
      await one.query('begin isolation level repeatable read')
      await one.query('select from daily.refresh_queue')
      await refresh(db)
      expect(await read()).toContain(DAY)
      await db.query('update answers set error = null')
      await expect(one.query(`select daily.refresh(null, '1 min', 31)`)).rejects.toMatchObject({
        code: '40001',
      })
      await one.query('rollback')
      await refresh(db)
      expect(await read()).toContain(DAY)
      expect(await differences(db)).toEqual([])
    })
  },
)
