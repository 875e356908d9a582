import { execFile } from 'node:child_process'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnDatabase } from '../../support/database.ts'
import { refreshDayByDay } from '../../support/history.ts'
import { isolatedDatabase } from '../../support/isolated.ts'
import { installTriggers, prepareMapped } from '../../support/schema.ts'
import { differences } from '../../support/verify.ts'
import { answer, brand, insert, organization, place, prompt } from '../../support/world.ts'

let own: OwnDatabase
let db: pg.Pool

beforeAll(async () => {
  own = await isolatedDatabase(prepareMapped)
  db = new pg.Pool({ connectionString: own.url, max: 4 })
})

afterAll(async () => {
  await db.end()
  await own.drop()
})

async function refresh(): Promise<void> {
  const client = await db.connect()
  await refreshDayByDay(client).finally(() => client.release())
}

function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile('node', args, { env: { ...process.env, DATABASE_URL: own.url } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

const capture = (table: string, source: string) =>
  db.query('select daily.install_triggers($1::text::regclass, $2)', [table, source])

test('a refresh refuses to run where nobody notes changes and no days are set', async () => {
  const { rows } = await db.query('delete from daily.rolling_window returning days')
  expect(rows).toEqual([{ days: 7 }])
  const refused = await run('cli/refresh.ts')
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('Nobody notes when app.engines, app.feelings, app.links, app.llm_runs,')
  await capture('app.llm_runs', 'answers')
  expect((await run('cli/refresh.ts')).stderr).toContain('app.engines, app.feelings, app.links, app.named,')
  await installTriggers(db)
  expect((await run('cli/refresh.ts')).code).toBe(0)
}, 60_000)

test('the demo is not loaded among the data of another application', async () => {
  expect(await run('cli/seed.ts')).toMatchObject({
    code: 1,
    stderr: 'The database holds an application of its own: the demo is not for it.\n',
  })
})

test.each([
  ['app.people', 'answers', 'does not read app.people alone'],
  ['public.answers', 'answers', 'is no table'],
  ['app.llm_runs', 'runs', 'No metric is made from runs'],
  ['app.billing', 'subscriptions', 'No metric is made from subscriptions'],
])('triggers on %s as %s are refused: %s', async (table, source, why) => {
  await expect(capture(table, source)).rejects.toThrow(why)
})

test.each([
  [
    'groups rows',
    'select run as answer_id, max(label) as name from app.named group by run',
    'FOR KEY SHARE is not allowed with GROUP BY',
  ],
  [
    'joins tables',
    'select run as answer_id, label as name from app.named join app.llm_runs on uid = run',
    'does not read app.named alone',
  ],
  ['reads another view', 'select * from public.answer_mentions', 'does not read app.named alone'],
])('triggers are refused for a view that %s', async (_, query, why) => {
  const client = await db.connect()
  try {
    await client.query('begin')
    await client.query(`create or replace view export_source.answer_mentions as ${query}`)
    await expect(
      client.query(`select daily.install_triggers('app.named', 'answer_mentions')`),
    ).rejects.toThrow(why)
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('a view with other columns or types than the project reads is refused', async () => {
  await expect(
    db.query(
      'create or replace view export_source.models as select uid as id, title as provider from app.companies',
    ),
  ).rejects.toThrow('cannot change data type of view column "id" from text to uuid')
})

/** A brand with two answers that have one of everything, the citation recorded two days later. */
async function toBudget(): Promise<void> {
  await db.query('truncate app.companies, app.engines, app.regions cascade')
  const brandId = await brand(db, await organization(db))
  const rival = crypto.randomUUID()
  await insert(db, 'competitors', [{ id: rival, brand_id: brandId, name: 'Globex' }])
  const asked = await prompt(db, brandId)
  for (const day of ['1', '2']) {
    await answer(db, {
      ...(await place(db)),
      prompt: asked,
      at: `2026-10-0${day}T09:00:00Z`,
      mentions: ['Acme', 'Globex'],
      citations: [{ url: 'https://site.example/', recordedAt: `2026-10-1${day}T09:00:00Z` }],
      phrases: [{ polarity: 'positive', confidence: '0.5' }],
      judged: [
        { competitor: null, recommended: true },
        { competitor: rival, recommended: false },
      ],
    })
  }
  await refresh()
}

async function days(metric: string): Promise<string[]> {
  const { rows } = await db.query<{ day: string }>(
    `select distinct date::text as day from daily.${metric} order by day`,
  )
  return rows.map(({ day }) => day)
}

describe('what is deleted softly goes, and what is brought back comes back', () => {
  const FIRST = `where uid = (select uid from app.llm_runs order by run_at limit 1)`
  test.each([
    ['app.llm_runs', FIRST, ['2026-10-02'], ['2026-10-12']],
    ['app.links', `where seen_at < '2026-10-12'`, ['2026-10-01', '2026-10-02'], ['2026-10-12']],
    ['app.questions', '', [], []],
    ['app.tracked_brands', '', [], ['2026-10-11', '2026-10-12']],
    [
      'app.engines',
      `where slug = (select engine from app.llm_runs order by run_at limit 1)`,
      ['2026-10-02'],
      ['2026-10-11', '2026-10-12'],
    ],
    [
      'app.regions',
      `where uid = (select region from app.llm_runs order by run_at limit 1)`,
      ['2026-10-02'],
      ['2026-10-11', '2026-10-12'],
    ],
  ])('%s %s', async (table, which, visibility, citations) => {
    await toBudget()
    expect(await differences(db)).toEqual([])
    await db.query(`update ${table} set deleted_at = now() ${which}`)
    await refresh()
    expect([await days('visibility'), await days('citations')]).toEqual([visibility, citations])
    expect(await differences(db)).toEqual([])
    await db.query(`update ${table} set deleted_at = null`)
    await refresh()
    expect([await days('visibility'), await days('citations')]).toEqual([
      ['2026-10-01', '2026-10-02'],
      ['2026-10-11', '2026-10-12'],
    ])
    expect(await differences(db)).toEqual([])
  })

  test('a competitor', async () => {
    await toBudget()
    await db.query('update app.rivals set deleted_at = now()')
    await refresh()
    expect([await days('competitors'), await differences(db)]).toEqual([[], []])
  })
})

test('a column that no view reads changes nothing, so nothing is noted', async () => {
  await toBudget()
  await db.query('update app.llm_runs set milliseconds = 900')
  expect((await db.query('select * from daily.refresh_queue')).rows).toEqual([])
})

test('a citation without a date is on no day, and keeps nobody from deleting its answer', async () => {
  await toBudget()
  await db.query('alter table app.links alter seen_at drop not null')
  await db.query('update app.links set seen_at = null')
  await refresh()
  expect(await days('citations')).toEqual([])
  await db.query('delete from app.llm_runs')
  const { rows } = await db.query('select from daily.refresh_queue where brand_id is null')
  expect(rows).toEqual([])
  await refresh()
  expect(await differences(db)).toEqual([])
})
