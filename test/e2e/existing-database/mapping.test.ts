import { beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../../fixtures/command.ts'
import { differences } from '../../fixtures/differences.ts'
import { isolatedPool } from '../../fixtures/isolated-database.ts'
import { answer, place, refresh } from '../../fixtures/rows.ts'
import { sample } from '../../fixtures/sample.ts'
import { installTriggers, prepareMapped } from '../../fixtures/schema.ts'

const { db, url } = await isolatedPool(prepareMapped)

const run = (file: string) => runCommand(file, [], { DATABASE_URL: url })

const install = (table: string, source: string) =>
  db.query('select daily.install_triggers($1::text::regclass, $2)', [table, source])

test('a refresh raises an error without triggers and without a rolling window', async () => {
  const { rows } = await db.query('delete from daily.rolling_window returning days')
  expect(rows).toEqual([{ days: 7 }])
  const refused = await run('refresh.ts')
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain(
    'No triggers track changes of app.engines, app.feelings, app.links, app.llm_runs,',
  )
  await install('app.llm_runs', 'answers')
  expect((await run('refresh.ts')).stderr).toContain('app.engines, app.feelings, app.links, app.named,')
  await installTriggers(db)
  expect((await run('refresh.ts')).code).toBe(0)
}, 60_000)

test('the demo is not loaded among the data of another application', async () => {
  expect(await run('seed.ts')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The database belongs to another application\./),
  })
})

test.each([
  ['app.people', 'answers', 'does not read app.people alone'],
  ['public.answers', 'answers', 'does not read public.answers alone'],
  ['app.llm_runs', 'runs', 'No metric reads runs'],
  ['app.billing', 'subscriptions', 'No metric reads subscriptions'],
])('triggers on %s as %s are refused: %s', async (table, source, why) => {
  await expect(install(table, source)).rejects.toThrow(why)
})

test('a view with other columns or types than the project reads is refused', async () => {
  await expect(
    db.query(
      'create or replace view export_source.models as select uid as id, title as provider from app.companies',
    ),
  ).rejects.toThrow('cannot change data type of view column "id" from text to uuid')
})

/** A brand with two answers that have one of everything, the citations recorded ten days later. */
async function twoAnswers(): Promise<void> {
  await db.query('truncate app.companies, app.engines, app.regions cascade')
  const { said, answer: first } = await sample(db)
  await db.query(`update citations set recorded_at = '2026-10-11T09:00:00Z' where answer_id = $1`, [first])
  const citations = [{ url: 'https://site.example/', recordedAt: '2026-10-12T09:00:00Z' }]
  await answer(db, { ...said, ...(await place(db)), at: '2026-10-02T09:00:00Z', citations })
  await refresh(db)
}

async function days(metric: string): Promise<string[]> {
  const { rows } = await db.query<{ day: string }>(
    `select distinct date::text as day from daily.${metric} order by day`,
  )
  return rows.map(({ day }) => day)
}

describe('soft-deleted rows leave the stored rows, and restored rows return', () => {
  beforeAll(twoAnswers)

  const FIRST = 'in (select uid from app.llm_runs order by run_at limit 1)'
  test.each<[string, string, Record<string, string[]>]>([
    ['app.llm_runs', `uid ${FIRST}`, { visibility: ['2026-10-02'], citations: ['2026-10-12'] }],
    ['app.rivals', 'true', { competitors: [] }],
  ])('%s where %s', async (table, which, left) => {
    const stored = async () =>
      Object.fromEntries(await Promise.all(Object.keys(left).map(async (name) => [name, await days(name)])))
    const before = await stored()
    await db.query(`update ${table} set deleted_at = now() where ${which}`)
    await refresh(db)
    expect([await stored(), await differences(db)]).toEqual([left, []])
    await db.query(`update ${table} set deleted_at = null`)
    await refresh(db)
    expect([await stored(), await differences(db)]).toEqual([before, []])
  })
})

test('a change of a column that no view reads logs nothing', async () => {
  await twoAnswers()
  await db.query('update app.llm_runs set milliseconds = 900')
  expect((await db.query('select * from daily.change_log')).rows).toEqual([])
})

test('a citation without a date is on no day, and its answer can be deleted', async () => {
  await twoAnswers()
  await db.query('alter table app.links alter seen_at drop not null')
  await db.query('update app.links set seen_at = null')
  await refresh(db)
  expect(await days('citations')).toEqual([])
  await db.query('delete from app.llm_runs')
  await refresh(db)
  expect(await differences(db)).toEqual([])
})

test('a changed file of drizzle/sql is applied again, also to the triggers of an application', async () => {
  await db.query(`
    create or replace function daily.log_answers_insert() returns trigger language plpgsql as 'begin return null; end';
    create or replace function daily.resolve(wait boolean default true) returns integer language sql as 'select 0';
    update daily.applied_sql set sha256 = 'of another text' where name = 'sql/roles.sql'`)
  expect((await run('migrate.ts')).code).toBe(0)
  await twoAnswers()
  expect(await days('visibility')).toEqual(['2026-10-01', '2026-10-02'])
})

test('a source has triggers on one table: those on the table of an earlier view are dropped', async () => {
  await db.query(`
    create table app.renamed (like app.named);
    create or replace view export_source.answer_mentions as select run as answer_id, label as name from app.renamed;
    select daily.install_triggers('app.renamed', 'answer_mentions')`)
  const { rows } = await db.query(
    `select distinct tgrelid::regclass::text as base from pg_trigger where tgname like 'log_answer_mentions_%'`,
  )
  expect(rows).toEqual([{ base: 'app.renamed' }])
  expect((await db.query('select * from daily.untracked_tables()')).rows).toEqual([])
})
