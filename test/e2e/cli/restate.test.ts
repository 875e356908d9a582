import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { migrateToLatest } from '../../../cli/workers/migrate-to-latest.ts'
import { withClient } from '../../../drizzle/db/connect.ts'
import { refreshAll } from '../../../drizzle/db/refresh.ts'
import { seedMissingDays } from '../../../drizzle/seed/demo.ts'
import { restateDemo } from '../../../drizzle/seed/restate.ts'
import { announce } from '../../../emulator/running-service.ts'
import { STATE_FOLDER } from '../../../emulator/state.ts'
import { runCommand } from '../../fixtures/command.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'

const TODAY = '2026-11-21'
const { url } = await isolatedPool(migrateToLatest)

test('each edit of the demo’s past changes days by its own cause, and again when repeated', () =>
  withClient(url, async (client) => {
    await seedMissingDays(client, '2026-08-13', { newest: 1, limit: 1 })
    await seedMissingDays(client, TODAY, { newest: 8, limit: 8 })
    await refreshAll(client)
    let since = ''
    const changesSince = async () => {
      const { rows } = await client.query(
        `select name, cause, count(distinct date)::int as days, (select max(changed_at) from daily.changes) as last
         from daily.changes join brands on brands.id = brand_id
         cross join json_each_text(causes) as causes (cause, at) where at > $1 group by name, cause`,
        [since],
      )
      since = rows[0].last
      return rows
    }
    await changesSince()
    for (const _ of ['first', 'second']) {
      const changed: unknown[] = []
      for await (const sentence of restateDemo(client, TODAY)) {
        const changes = await changesSince()
        expect(changes, sentence).toHaveLength(1)
        changed.push(...changes.map(({ name, cause, days }) => [name, cause, days]))
      }
      expect(changed).toEqual([
        // The days of the answers, and the day of the recording, which is that of the test.
        ['Haldenpeak', 'citations', 4],
        ['Vellamora', 'prompts', 9],
        ['Vellamora', 'competitors', expect.any(Number)],
        ['Haldenpeak', 'answers', 1],
      ])
    }
  }))

test('restate changes no database but that of the demo', async () => {
  const service = { url: 'http://127.0.0.1:1', bucket: { url: '', accessKeyId: '', secretAccessKey: '' } }
  announce({ ...service, demo: { databaseUrl: `${url}-other`, key: '' }, isLoading: false })
  const refused = await runCommand('restate.ts', [], { DATABASE_URL: url, PORT: '1' })
  rmSync(join(STATE_FOLDER, 'running-1.json'))
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('another database') })
})
