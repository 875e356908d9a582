import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { withClient } from '../support/database.ts'
import { BEGINNING } from '../support/history.ts'
import { settles } from '../support/locks.ts'
import { prepare } from '../support/schema.ts'

describe.runIf(inject('realPostgres'))(
  'in a database whose order of texts ignores punctuation (skipped without DATABASE_URL)',
  () => {
    const server = new URL(process.env.DATABASE_URL ?? 'postgres://localhost')
    const database = `export_api_test_${randomBytes(6).toString('hex')}`
    const clients: pg.Client[] = []

    async function connect(): Promise<{ client: pg.Client; pid: number }> {
      const client = new pg.Client({ connectionString: new URL(`/${database}`, server).href })
      clients.push(client)
      await client.connect()
      const { rows } = await client.query('select pg_backend_pid() as pid')
      return { client, pid: rows[0].pid }
    }

    beforeAll(async () => {
      await withClient(server.href, (client) =>
        client.query(
          `create database ${database} template template0 locale_provider icu icu_locale 'en-u-ka-shifted'`,
        ),
      )
      const { client } = await connect()
      await prepare(client)
      await client.query(BEGINNING)
    })

    afterAll(async () => {
      await Promise.all(clients.map((client) => client.end()))
      await withClient(server.href, (client) => client.query(`drop database ${database} with (force)`))
    })

    test('daily.resolve and daily.refresh lock the days of two metrics in the same order', async () => {
      const [other, resolver, refresher] = [await connect(), await connect(), await connect()]
      const { rows: order } = await other.client.query(`select 'citations' < 'citation_share' as shifted`)
      expect(order).toEqual([{ shifted: true }])

      await other.client.query('select daily.resolve()')
      await other.client.query('begin')
      await other.client.query(`select from daily.refresh_queue where metric = 'citation_share' for update`)
      await resolver.client.query('update citations set owned = not owned')
      const resolved = resolver.client.query('select daily.resolve()')
      expect(await settles(other.client, resolved, resolver.pid)).toBe(false)
      const refreshed = refresher.client.query(`select daily.refresh(null, '1 min', 30)`)
      expect(await settles(other.client, refreshed, refresher.pid)).toBe(false)
      await other.client.query('commit')
      await expect(Promise.all([resolved, refreshed])).resolves.toHaveLength(2)
    })
  },
)
