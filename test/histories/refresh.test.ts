import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { refreshAll } from '../../drizzle/db/refresh.ts'
import type { OwnDatabase } from '../fixtures/database.ts'
import { isolatedDatabase } from '../fixtures/isolated-database.ts'
import { seededRandom } from '../fixtures/random.ts'
import { brand, organization, place, prompt } from '../fixtures/rows.ts'
import { CLEARANCE } from '../interleavings/histories.ts'
import { differences } from '../oracle/differences.ts'

const DAYS = 40
const URLS = 20

describe.skipIf(!inject('realPostgres'))('a refresh (skipped without a server: set DATABASE_URL)', () => {
  let own: OwnDatabase
  let db: pg.Pool

  beforeAll(async () => {
    own = await isolatedDatabase()
    db = new pg.Pool({ connectionString: own.url, max: 4 })
  })

  afterAll(async () => {
    await db.end()
    await own.drop()
  })

  async function refresh(): Promise<void> {
    const client = await db.connect()
    await refreshAll(client).finally(() => client.release())
  }

  beforeEach(async () => {
    await db.query(CLEARANCE)
    const asked = await prompt(db, await brand(db, await organization(db)))
    const { model, market } = await place(db)
    await db.query(
      `insert into answers (prompt_id, model_id, market_id, answered_at)
       select $1, $2, $3, timestamptz '2026-09-01 12:00Z' + n * interval '1 day' from generate_series(0, $4::int - 1) as n`,
      [asked, model, market, DAYS],
    )
    await db.query(
      `insert into citations (answer_id, url, owned, recorded_at)
       select id, 'https://site.example/' || n, false, answered_at from answers, generate_series(1, $1::int) as n`,
      [URLS],
    )
    await refresh()
  })

  test('whose process is killed, ten times at any moment, leaves nothing that the next one does not compute', async () => {
    const { below } = seededRandom(4)
    const victims = async () =>
      (await db.query(`select from pg_stat_activity where application_name = 'victim'`)).rowCount
    const script = `
      import pg from 'pg'
      import { refreshAll } from ${JSON.stringify(new URL('../../drizzle/db/refresh.ts', import.meta.url).href)}
      const client = new pg.Client({ connectionString: process.env.OWN_URL, application_name: 'victim' })
      await client.connect()
      console.log('ready')
      for (;;) {
        await client.query('update citations set owned = not owned')
        await refreshAll(client)
      }`
    for (let round = 0; round < 10; round += 1) {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
        env: { ...process.env, OWN_URL: own.url },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await once(child.stdout, 'data')
      await sleep(below(120))
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      expect((await gone)[1]).toBe('SIGKILL')
      // The server finishes the statement of the killed client.
      await expect.poll(victims).toBe(0)
      await refresh()
      expect(await differences(db)).toEqual([])
    }
  })
})
