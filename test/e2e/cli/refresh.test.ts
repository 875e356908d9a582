import { expect, test } from 'vitest'
import { analyzeLoaded } from '../../../drizzle/db/analyze.ts'
import { runCommand } from '../../fixtures/command.ts'
import { withClient } from '../../fixtures/database.ts'
import { withFailingDay } from '../../fixtures/failing-day.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { LIST, partitionAnswers, partitionOf } from '../../fixtures/partitions.ts'
import { answer, brand, organization, place, prompt } from '../../fixtures/rows.ts'
import { prepare, tableOf } from '../../fixtures/schema.ts'

const { db, url } = await isolatedPool(async (client) => {
  await prepare(client)
  await partitionAnswers(client)
})
const brandId = await brand(db, await organization(db))
const said = { ...(await place(db)), prompt: await prompt(db, brandId) }
for (const day of ['01', '02']) await answer(db, { ...said, at: `2026-10-${day}T09:00:00Z` })

const run = (command: string, ...args: string[]) => runCommand(`${command}.ts`, args, { DATABASE_URL: url })

test('refresh recomputes the days that changed, and verify compares every row', async () => {
  expect(await run('verify')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('in the refresh queue'),
  })
  expect((await run('refresh')).stdout).toMatch(/^Up to date\. Recomputed \d+ days\.\n$/)
  expect(await run('verify')).toMatchObject({ code: 0, stdout: 'All rows match.\n' })
  expect((await db.query('select from daily.visibility')).rowCount).toBe(2)
})

test('verify prints a row that was changed by hand, and refresh --all repairs it', async () => {
  await db.query(`update daily.visibility set total_prompts = 7 where date = '2026-10-02'`)
  const found = await run('verify', '--brand', brandId, '--from', '2026-10-02')
  expect(found).toMatchObject({ code: 1, stderr: expect.stringContaining('2 rows differ') })
  expect(found.stdout).toMatch(/^visibility wrong .*"total_prompts":7/m)
  expect((await run('verify', '--to', '2026-10-01')).code).toBe(0)
  expect((await run('refresh', '--all')).code).toBe(0)
  expect((await run('verify')).code).toBe(0)
})

test('partitions without triggers are named until the statement that verify prints has run', async () => {
  const partition = partitionOf('2027')
  await db.query(`
    create table ${partition} partition of ${tableOf('answers')}
      for values from ('2027-01-01') to ('2028-01-01') partition by list (${LIST});
    create table ${partition}_zero partition of ${partition} for values in ('model-0')`)
  const missed = new RegExp(
    `^The refresh can miss changes of .*${partition}, .*${partition}_zero\\. See docs`,
  )
  expect((await run('refresh')).stderr).toMatch(missed)
  const { code, stdout, stderr } = await run('verify')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(
    new RegExp(
      `^No triggers track changes of ${partition}, ${partition}_zero\\. Run select .* npm run refresh\\.\n$`,
    ),
  )
  const remedy = /select .* where is_partition/.exec(stderr)?.[0]
  // Of a partition with its own partitions.
  await db.query(`${remedy} and base = '${partition}'::regclass`)
  expect((await run('refresh')).stderr).toBe('')
  expect(await run('verify')).toMatchObject({ code: 0, stdout: 'All rows match.\n' })
})

test('verify names no table where a rolling window replaces the triggers', async () => {
  await db.query(`alter table ${tableOf('citations')} disable trigger user`)
  expect((await run('verify')).stderr).toContain(`No triggers track changes of ${tableOf('citations')}. `)
  await db.query('insert into daily.rolling_window (days) values (7)')
  expect((await run('verify')).code).toBe(0)
  await db.query('delete from daily.rolling_window')
  await db.query(
    'select daily.install_triggers(base, source) from daily.untracked_tables() where not is_partition',
  )
  await run('refresh')
})

test('verify names a day that /changes lists with wrong numbers, and refresh --relist repairs it', async () => {
  await db.query(`update daily.changes set rows = 7 where endpoint = 'visibility' and date = '2026-10-01'`)
  await db.query(`delete from daily.changes where endpoint = 'visibility' and date = '2026-10-02'`)
  const found = await run('verify')
  expect(found).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^2 days differ from the list of changes/),
  })
  expect(found.stdout).toMatch(/^visibility changes .*"date":"2026-10-01","listed":\{"rows":7,/m)
  expect(found.stdout).toMatch(/^visibility changes .*"date":"2026-10-02","listed":\{"rows":null,/m)
  expect((await run('refresh', '--relist')).stdout).toMatch(/^Listed every day of 1 brand as changed\.$/m)
  expect((await run('verify')).code).toBe(0)
  await db.query(
    `update daily.changes set digest = '0123456789abcde' where endpoint = 'visibility' and date = '2026-10-01'`,
  )
  expect((await run('verify')).stderr).toMatch(/^1 day differs from/)
})

test('a day that cannot be computed is a sentence with its cause', async () => {
  await db.query(`delete from daily.visibility where date = '2026-10-02'`)
  await withFailingDay(db, { brandId, day: '2026-10-02' }, async () => {
    expect(await run('refresh', '--all')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        `^visibility of 2026-10-02 of brand ${brandId} cannot be computed: .*"failing".*\n$`,
      ),
    })
    expect(await run('verify')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^1 day cannot be computed\./),
    })
  })
  expect((await run('refresh')).code).toBe(0)
})

test('tables that were just loaded are analyzed before the refresh', () =>
  withClient(url, async (client) => {
    await client.query(
      `insert into citations (answer_id, url, owned, recorded_at)
       select id, 'https://a.example/' || n, false, timestamptz '2026-10-02'
       from answers, generate_series(1, 100) as n`,
    )
    await client.query('select pg_stat_force_next_flush()')
    await analyzeLoaded(client)
    const [table] = tableOf('citations').split('.').toReversed()
    expect(
      (await client.query('select from pg_stats where tablename = $1', [table])).rowCount,
    ).toBeGreaterThan(0)
  }))

test.each([
  ['no date', 64, ['--from', 'yesterday'], /Use a date/],
  ['days in the wrong order', 1, ['--from', '2026-11-02', '--to', '2026-11-01'], /^--from is after --to\./],
])('verify rejects %s with %i', async (_, code, args, message) => {
  expect(await run('verify', ...args)).toEqual({
    code,
    stdout: '',
    stderr: expect.stringMatching(message),
  })
})
