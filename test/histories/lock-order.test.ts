import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import { withClient } from '../fixtures/database.ts'
import { differences } from '../fixtures/differences.ts'
import { prepare, tableOf } from '../fixtures/schema.ts'
import { uuid } from '../interleavings/changes.ts'
import { BEGINNING, CLEARANCE } from '../interleavings/histories.ts'
import { settles } from '../interleavings/locks.ts'

describe.runIf(inject('realPostgres'))(
  'in a database whose order of texts ignores punctuation (skipped without DATABASE_URL)',
  () => {
    const server = new URL(process.env.DATABASE_URL ?? 'postgres://localhost')
    const database = `export_api_test_${randomBytes(6).toString('hex')}`
    const clients: pg.Client[] = []
    let other: pg.Client

    async function connect(): Promise<pg.Client> {
      const client = new pg.Client({ connectionString: new URL(`/${database}`, server).href })
      clients.push(client)
      await client.connect()
      return client
    }

    /** Sends a statement that then ends, or waits for a lock. */
    async function send(sql: string): Promise<{ readonly work: Promise<unknown>; readonly waits: boolean }> {
      const client = await connect()
      const { rows } = await client.query('select pg_backend_pid() as pid')
      const work = client.query(sql)
      return { work, waits: !(await settles(other, work, rows[0].pid)) }
    }

    const lockDays = (metric: string) =>
      other.query(`begin; select from daily.refresh_queue where metric = '${metric}' for update`)

    beforeAll(async () => {
      await withClient(server.href, (client) =>
        client.query(
          `create database ${database} template template0 locale_provider icu icu_locale 'en-u-ka-shifted'`,
        ),
      )
      other = await connect()
      await prepare(other)
    })

    beforeEach(async () => {
      await other.query(`rollback; ${CLEARANCE}; ${BEGINNING}`)
      await other.query('select daily.resolve()')
    })

    afterAll(async () => {
      await Promise.all(clients.map((client) => client.end()))
      await withClient(server.href, (client) => client.query(`drop database ${database} with (force)`))
    })

    test('daily.resolve and daily.refresh lock the days of two metrics in the same order', async () => {
      const { rows } = await other.query(`select 'citations' < 'citation_share' as shifted`)
      expect(rows).toEqual([{ shifted: true }])
      await lockDays('citation_share')
      const resolve = await send('update citations set owned = not owned; select daily.resolve()')
      const refresh = await send(`select daily.refresh(null, '1 min', 30)`)
      expect([resolve.waits, refresh.waits]).toEqual([true, true])
      await other.query('commit')
      await expect(Promise.all([resolve.work, refresh.work])).resolves.toHaveLength(2)
    })

    test('a day that changes while a call computes it is computed again', async () => {
      await lockDays('citations')
      const refresh = await send(`select daily.refresh(null, '1 min', 30)`)
      expect(refresh.waits).toBe(true)
      const change = await send(`update answer_mentions set name = 'Initech'; select daily.resolve()`)
      expect(change.waits).toBe(false)
      await other.query('commit')
      await refresh.work
      await refreshAll(other)
      expect(await differences(other)).toEqual([])
    })

    test.each([
      'read committed',
      'repeatable read',
      'serializable',
    ])('triggers let no load wait for a change of its answers, nor the reverse, in %s', async (level) => {
      const [load, change] = [await connect(), await connect()]
      for (const client of [load, change])
        await client.query(`begin isolation level ${level}; set local lock_timeout = '10ms'`)
      const cite = (n: number) =>
        load.query(
          `insert into citations (answer_id, url, owned, recorded_at)
           values ('${uuid(3, n)}', 'https://late.example/', false, '2026-10-01T12:00:00Z')`,
        )
      const fail = (n: number) => change.query(`update answers set error = 'late' where id = '${uuid(3, n)}'`)
      try {
        await cite(1)
        await fail(2)
        await cite(2)
        await fail(1)
      } finally {
        await load.query('commit')
        await change.query('commit')
      }
      await refreshAll(other)
      expect(await differences(other)).toEqual([])
    })

    test.each([
      ['a resolve', 'select null as code from daily.resolve()'],
      ['a refresh', `select failure ->> 'code' as code from daily.refresh(null, '1 min', 30)`],
    ])('an application that alters two tables gets into no deadlock with %s', async (_, sql) => {
      const [application, computing] = [await connect(), await connect()]
      const { rows: backend } = await computing.query('select pg_backend_pid() as pid')
      const alter = (table: string) =>
        application.query(`lock table ${tableOf(table)} in access exclusive mode`)
      const tables = ['answers', 'citations', 'prompts']
      for (const first of tables)
        for (const second of tables) {
          if (first === second) continue
          await application.query('begin')
          await alter(first)
          await computing.query('begin')
          const work = computing.query(sql)
          let ended = false
          const end = () => {
            ended = true
          }
          work.then(end, end)
          for (let waits = false; !waits && !ended; ) {
            const { rows } = await other.query(
              `select wait_event = 'PgSleep' or cardinality(pg_blocking_pids(pid)) > 0 as waits
               from pg_stat_activity where pid = $1`,
              [backend[0].pid],
            )
            waits = rows[0].waits === true
          }
          await alter(second)
          await application.query('rollback')
          // On a busy machine it may give up the table instead.
          expect(['55P03', null]).toContain(
            await work.then(
              ({ rows }) => rows[0].code,
              ({ code }) => code,
            ),
          )
          await computing.query('rollback')
        }
    })

    test('a run that retries failed days does not cross a refresh that computes them', async () => {
      for (const metric of ['visibility', 'citations'])
        await other.query(
          `update daily.refresh_queue set attempts = 1, retry_at = now() where metric = '${metric}'`,
        )
      await lockDays('visibility')
      const start = await send('select daily.start_refresh(true)')
      const refresh = await send(`select daily.refresh(null, '1 min', 30)`)
      expect(start.waits).toBe(true)
      await other.query('commit')
      await expect(Promise.all([start.work, refresh.work])).resolves.toHaveLength(2)
    })
  },
)
